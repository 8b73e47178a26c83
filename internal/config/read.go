package config

import (
	"math"
	"net"
	"strconv"
	"time"
)

// some is the least duration that is one at all.
const some = time.Nanosecond

// config reads the whole file.
func (r *reader) config(root entry) *Config {
	top := r.open(root, keys.top)
	if top.broken {
		return nil
	}
	c := &Config{
		Listen:       r.listen(top),
		Store:        r.store(top),
		StoreMigrate: top.boolean("store_migrate", true),
		Authority:    readAuthority(top.section("authority", keys.authority)),
		Mutations:    r.mutations(top.named("mutations"), nil),
		Breaker:      readBreaker(top.section("breaker", keys.breaker)),
		Retention:    readRetention(top.section("retention", keys.retention)),
		Limits:       readLimits(top.section("limits", keys.limits)),
		Origins:      top.section("cors", keys.cors).origins("origins"),
		Log:          readLog(top.section("log", keys.log)),
	}
	worker := top.section("worker", keys.worker)
	c.Worker.PerTenant = worker.integer("per_tenant", 64, 0, math.MaxInt32)
	c.Upstream, c.Tenants = r.upstreams(top, c.Mutations, c.Worker.PerTenant)
	_, tenancy := top.values["tenants"]
	c.Issuers, c.Anonymous = r.auth(top, tenancy)
	c.Headers = r.identityHeaders(top, c.ExtraClaims())
	c.Worker = readWorker(worker, c.Worker.PerTenant, c.LongestTimeout())
	r.requireMutations(top, c.Tenants)
	return c
}

func (r *reader) listen(top section) string {
	const usual = "127.0.0.1:8080"
	listen := top.text("listen", usual)
	if !ValidListen(listen) {
		r.mistake(top.values["listen"], "must be HOST:PORT, such as %s", usual)
	}
	return listen
}

// ValidListen reports whether address is HOST:PORT with a port of 0 to 65535.
// An empty host is every address of the machine.
func ValidListen(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func (r *reader) store(top section) Store {
	store, err := ParseStore(top.text("store", "sqlite:asyncgate.db"), r.dir)
	if err != nil {
		r.mistake(top.values["store"], "%s", err)
	}
	return store
}

func readAuthority(s section) Authority {
	return Authority{
		MaxAge:           s.duration("max_age", 24*time.Hour, some),
		TenantAdminRoles: s.texts("tenant_admin_roles", nil),
		AdminRoles:       s.texts("admin_roles", nil),
	}
}

func readWorker(s section, perTenant int, longest time.Duration) Worker {
	return Worker{
		Concurrency:  s.integer("concurrency", 256, 1, math.MaxInt32),
		PerTenant:    perTenant,
		PollInterval: s.duration("poll_interval", time.Second, 10*time.Millisecond),
		StaleAfter:   s.duration("stale_after", time.Minute, time.Second),
		DrainTimeout: s.duration("drain_timeout", longest, some),
	}
}

func readBreaker(s section) Breaker {
	return Breaker{
		Failures: s.integer("failures", 10, 0, math.MaxInt32),
		OpenFor:  s.duration("open_for", 30*time.Second, some),
	}
}

func readRetention(s section) Retention {
	return Retention{
		Result:    s.duration("result", 24*time.Hour, some),
		Operation: s.duration("operation", 168*time.Hour, some),
	}
}

func readLimits(s section) Limits {
	return Limits{
		Body:      s.size("body", 1<<20),
		Variables: s.size("variables", 256<<10),
		Result:    s.size("result", 8<<20),
	}
}

func readLog(s section) Log {
	return Log{
		Format: s.oneOf("format", "json", "json", "text"),
		Level:  s.oneOf("level", "info", "debug", "info", "warn", "error"),
	}
}
