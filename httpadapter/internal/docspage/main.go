// Command docspage writes the page for people of an OpenAPI document:
//
//	docspage openapi.json docs.html
//
// The httpadapter package runs it with go generate, embeds the page and serves
// it at /docs.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run reads the document args[0] and writes the page args[1].
func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: docspage document page")
	}
	document, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	page, err := render(document)
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], page, 0o666)
}
