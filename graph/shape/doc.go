// Package shape holds what the generated code needs of ours: the scalars, and
// the types whose shape in the schema is not that of the domain. What is
// absent in the domain ("" or the zero value) is null here.
package shape
