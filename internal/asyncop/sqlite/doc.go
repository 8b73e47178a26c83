// Package sqlite is the store in one file, for one process: the default.
//
// A file belongs to one Store at a time, held by a lock beside it. Writes take
// turns on one connection, each an IMMEDIATE transaction that is on the disk
// when it returns; reads have connections of their own and never wait for a
// write. Since no one else can hold a claim, every RUNNING row is recovered at
// Open. The clock is the process's, so that time can be faked around a Store.
package sqlite
