// Package graph is the gateway's own GraphQL surface: resolvers of a sentence
// each, the scalars, the shapes that differ from the domain's, and the table
// from errors to codes. Package generated beside it is machine-written.
//
// Everything that decides lives below, in executor and asyncop.
package graph
