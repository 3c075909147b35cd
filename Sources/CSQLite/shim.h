// What Swift cannot import from SQLite by itself, with the reason. The rest of SQLite is GRDB's to import.
#pragma once

// As <sqlite3.h> declares it, which is not included: GRDB's module has it.
int sqlite3_config(int option, ...);

// Variadic. SQLITE_CONFIG_MEMSTATUS (9) off: SQLite counts what it allocates no more, for which it takes a mutex of the
// whole process, twice for each allocation.
static inline int backscroll_sqlite_stop_counting_memory(void) {
    return sqlite3_config(9, 0);
}
