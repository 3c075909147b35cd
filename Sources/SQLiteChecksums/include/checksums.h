// A VFS of SQLite whose databases have a checksum in the last 8 bytes of each page.
#pragma once
#include <stdint.h>

// Bytes at the end of a page that SQLite leaves to this VFS (SQLite file format, section 1.3.5).
enum { CHECKSUM_BYTES = 8 };

// Makes the VFS the default of the process. Call it before the first database is opened, and not concurrently. Returns one
// of SQLite's result codes.
int backscroll_use_checksums(void);

// The result of comparing a page with its checksum.
enum page_state {
    // The checksum fits the content.
    PAGE_RIGHT,
    // The bytes of the checksum are zeros, as a program without this VFS writes them.
    PAGE_WITHOUT_CHECKSUM,
    // The checksum is another one.
    PAGE_WRONG,
};

// Compares a page with its checksum. `bytes` is the size of a page: a power of 2 from 512 to 65,536.
enum page_state backscroll_page_state(const uint8_t *page, int bytes);

// Writes the checksum of a page into its last 8 bytes.
void backscroll_seal_page(uint8_t *page, int bytes);
