package db

// Path is where the database lies.
func (d *DB) Path() string { return d.path }

// Home is the directory that holds locks/ and blobs/.
func (d *DB) Home() string { return d.home }
