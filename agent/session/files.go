package session

import "path/filepath"

// Files are what the store keeps its things in: the database with the files that
// SQLite puts beside it, the locks, the blobs. The paths are absolute.
func (s *SQLite) Files() []string {
	path, home := s.db.Path(), s.db.Home()
	return []string{
		path, path + "-wal", path + "-shm", path + "-journal",
		filepath.Join(home, "locks"), filepath.Join(home, "blobs"),
	}
}
