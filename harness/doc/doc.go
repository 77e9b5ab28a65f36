// Package doc keeps README.md and this folder true: its tests run the README's
// commands and compare its blocks with the files that they are taken from.
package doc
