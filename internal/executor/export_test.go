package executor

// SharesEngine reports whether two tenants share all that is made of a schema.
func SharesEngine(a, b *Tenant) bool { return a.engine == b.engine }
