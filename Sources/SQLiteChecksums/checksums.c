// Checksums of pages, written with each page of a database and compared whenever a page is read from the disk.
//
// Format and algorithm are those of cksumvfs, an extension that comes with SQLite, but for pages whose sum is 0. A difference
// within one word of 32 bits is always found. Programs without the extension can read the files, since SQLite
// never looks at reserved bytes; what they write has no checksum.
//
// The write-ahead log stays as it is: its frames have checksums of SQLite's own. A checkpoint gives a page its checksum.
#include "checksums.h"

#include <sqlite3.h>
#include <string.h>

// Without it, SQLite 3.47.1 and later read no parts of overflow pages.
#ifndef SQLITE_IOCAP_SUBPAGE_READ
#define SQLITE_IOCAP_SUBPAGE_READ 0x00008000
#endif

enum {
    LARGEST_PAGE = 65536,
    SMALLEST_PAGE = 512,
    // Offsets of the size of pages and of the number of reserved bytes in the header of a database, and its length.
    SIZE_OFFSET = 16,
    RESERVED_OFFSET = 20,
    HEADER_BYTES = 100,
};

// The state of an open database. It stands behind SQLite's own data of the file, which one thread uses at a time.
struct checked_file {
    const sqlite3_io_methods *base;
    // `base`, but for the methods below.
    sqlite3_io_methods methods;
    // True if the header says that each page has 8 reserved bytes.
    int has_checksums;
    // The size of pages by the header; 0 as long as none was read.
    int page_bytes;
};

static sqlite3_vfs *base_vfs;
static sqlite3_vfs checked_vfs;

// SQLite's own part of a file, made a multiple of what the struct behind it must be aligned to.
static int file_offset(void) {
    int alignment = _Alignof(struct checked_file);
    return (base_vfs->szOsFile + alignment - 1) / alignment * alignment;
}

static struct checked_file *checked(sqlite3_file *file) {
    return (struct checked_file *)((char *)file + file_offset());
}

// The same on all processors: the words of a page are little-endian.
static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_word(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

static void compute(const uint8_t *page, int bytes, uint8_t *sum) {
    uint32_t first = 0, second = 0;
    for (int i = 0; i < bytes - CHECKSUM_BYTES; i += 8) {
        first += word(page + i) + second;
        second += word(page + i + 4) + first;
    }
    // A page of zeros is one that was lost, or that nobody has written. One that was written must differ from it.
    if (first == 0 && second == 0) first = 1;
    put_word(sum, first);
    put_word(sum + 4, second);
}

enum page_state backscroll_page_state(const uint8_t *page, int bytes) {
    static const uint8_t none[CHECKSUM_BYTES];
    const uint8_t *stored = page + bytes - CHECKSUM_BYTES;
    if (memcmp(stored, none, CHECKSUM_BYTES) == 0) return PAGE_WITHOUT_CHECKSUM;
    uint8_t sum[CHECKSUM_BYTES];
    compute(page, bytes, sum);
    return memcmp(stored, sum, CHECKSUM_BYTES) == 0 ? PAGE_RIGHT : PAGE_WRONG;
}

void backscroll_seal_page(uint8_t *page, int bytes) { compute(page, bytes, page + bytes - CHECKSUM_BYTES); }

static int is_page(int bytes) {
    return bytes >= SMALLEST_PAGE && bytes <= LARGEST_PAGE && (bytes & (bytes - 1)) == 0;
}

// Notes what the header says. `bytes` begin with the first byte of the file.
static void note_header(struct checked_file *state, const uint8_t *bytes) {
    if (memcmp(bytes, "SQLite format 3", 16) != 0) return;
    state->has_checksums = bytes[RESERVED_OFFSET] == CHECKSUM_BYTES;
    int size = bytes[SIZE_OFFSET] << 8 | bytes[SIZE_OFFSET + 1];
    // The largest size does not fit, and is written as 1.
    state->page_bytes = size == 1 ? LARGEST_PAGE : is_page(size) ? size : 0;
}

// True if the first page fits its checksum but for the byte of the header that says that there are checksums. If that byte
// changes on the disk, nothing would be compared any more.
static int has_lost_mark(uint8_t *page, int bytes) {
    uint8_t found = page[RESERVED_OFFSET];
    page[RESERVED_OFFSET] = CHECKSUM_BYTES;
    int fits = backscroll_page_state(page, bytes) == PAGE_RIGHT;
    page[RESERVED_OFFSET] = found;
    return fits;
}

static int read_page(sqlite3_file *file, void *buffer, int bytes, sqlite3_int64 offset) {
    struct checked_file *state = checked(file);
    uint8_t *page = buffer;
    // SQLite 3.45 to 3.47.0 reads overflow pages in part, whatever the file's characteristics are. Of the first page it only
    // reads the header.
    int size = state->has_checksums ? state->page_bytes : 0;
    if (size > 0 && bytes < size && offset >= size && offset % size + bytes <= size) {
        uint8_t whole[LARGEST_PAGE];
        int status = read_page(file, whole, size, offset - offset % size);
        if (status == SQLITE_OK) memcpy(buffer, whole + offset % size, (size_t)bytes);
        return status;
    }
    int status = state->base->xRead(file, buffer, bytes, offset);
    if (status != SQLITE_OK) return status;
    if (offset == 0 && bytes >= HEADER_BYTES) note_header(state, page);
    if (!is_page(bytes)) return SQLITE_OK;
    if (state->has_checksums) {
        if (backscroll_page_state(page, bytes) != PAGE_RIGHT) {
            sqlite3_log(SQLITE_IOERR_DATA, "page %lld does not fit its checksum", offset / bytes + 1);
            return SQLITE_IOERR_DATA;
        }
        // SQLite writes pages with what it read here into the log. If a program without this VFS copies the log into the
        // database, these pages then have no checksum, rather than a wrong one.
        memset(page + bytes - CHECKSUM_BYTES, 0, CHECKSUM_BYTES);
    } else if (offset == 0 && has_lost_mark(page, bytes)) {
        return SQLITE_IOERR_DATA;
    }
    return SQLITE_OK;
}

static int write_page(sqlite3_file *file, const void *buffer, int bytes, sqlite3_int64 offset) {
    struct checked_file *state = checked(file);
    if (offset == 0 && bytes >= HEADER_BYTES) note_header(state, buffer);
    if (!state->has_checksums || !is_page(bytes)) return state->base->xWrite(file, buffer, bytes, offset);
    // SQLite's own page stays as it is: others may read it meanwhile.
    uint8_t page[LARGEST_PAGE];
    memcpy(page, buffer, (size_t)bytes);
    backscroll_seal_page(page, bytes);
    return state->base->xWrite(file, page, bytes, offset);
}

// Never maps a page into memory, where it would be read without being compared.
static int fetch_nothing(sqlite3_file *file, sqlite3_int64 offset, int bytes, void **page) {
    (void)file, (void)offset, (void)bytes;
    *page = NULL;
    return SQLITE_OK;
}

static int characteristics(sqlite3_file *file) {
    return checked(file)->base->xDeviceCharacteristics(file) & ~SQLITE_IOCAP_SUBPAGE_READ;
}

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *opened) {
    (void)vfs;
    int status = base_vfs->xOpen(base_vfs, name, file, flags, opened);
    // Logs, journals and temporary files are not concerned.
    if (status != SQLITE_OK || file->pMethods == NULL || !(flags & SQLITE_OPEN_MAIN_DB)) return status;
    struct checked_file *state = checked(file);
    state->base = file->pMethods;
    state->methods = *file->pMethods;
    state->has_checksums = 0;
    state->page_bytes = 0;
    state->methods.xRead = read_page;
    state->methods.xWrite = write_page;
    state->methods.xDeviceCharacteristics = characteristics;
    if (state->methods.iVersion >= 3) state->methods.xFetch = fetch_nothing;
    file->pMethods = &state->methods;
    return SQLITE_OK;
}

int backscroll_use_checksums(void) {
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (found == NULL) return SQLITE_NOMEM;
    if (found == &checked_vfs) return SQLITE_OK;
    base_vfs = found;
    // The other functions of SQLite's VFS work on its own files, so they are taken as they are.
    checked_vfs = *found;
    checked_vfs.zName = "backscroll";
    checked_vfs.pNext = NULL;
    checked_vfs.szOsFile = file_offset() + (int)sizeof(struct checked_file);
    checked_vfs.xOpen = open_file;
    return sqlite3_vfs_register(&checked_vfs, 1);
}
