// Package telemetry makes what the program tells its operators: logs. It keeps
// nothing global.
package telemetry
