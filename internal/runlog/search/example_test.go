package search_test

import (
	"fmt"

	"carillon/internal/runlog/search"
)

func ExampleCompile() {
	_, fault := search.Compile("(unbalanced", true, false)
	fmt.Println(fault.Code, fault.Message)
	// Output:
	// regex cannot be read as a regular expression (RE2): error parsing regexp: missing closing ): `(unbalanced`
}
