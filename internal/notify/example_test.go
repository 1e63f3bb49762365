package notify_test

import (
	"fmt"

	"carillon/internal/notify"
)

func ExampleLine() {
	fmt.Println(notify.Line("backup failed\r\nBcc: everyone@example.com"))
	// Output:
	// backup failed  Bcc: everyone@example.com
}
