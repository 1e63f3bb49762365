package redact_test

import (
	"fmt"

	"carillon/internal/executor/redact"
)

func ExampleMasker_Text() {
	masker := redact.New([]redact.Secret{{Name: "db-password", Value: []byte("correct horse")}})
	fmt.Println(masker.Text("connect to postgres://app:correct horse@db"))
	// Output:
	// connect to postgres://app:[secret:db-password]@db
}

// Output arrives in pieces. The end of a piece is held back while it may be the beginning of a secret.
func ExampleStream() {
	stream := redact.New([]redact.Secret{{Name: "api-key", Value: []byte("k-0123456789")}}).Stream()
	for _, piece := range []string{"key: k-0123", "456789, done", "\n"} {
		fmt.Printf("%q\n", stream.Write([]byte(piece)))
	}
	fmt.Printf("%q\n", stream.Flush())
	// Output:
	// "key: "
	// "[secret:api-key], done"
	// "\n"
	// ""
}
