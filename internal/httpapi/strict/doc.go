// Package strict parses JSON strictly, and checks values against the schemas of the OpenAPI document.
package strict
