/* A library that a program loads before all others (LD_PRELOAD), for scripts/test-power and scripts/test-faults.

   It records what the program does to the files of one directory, and what it writes to sockets, as one sequence, and lets
   chosen calls fail. scripts/trust.d/sequence.py reads the sequence.

     TRUST_DIRECTORY   the directory, without links
     TRUST_TRACE       the file that records are appended to; several processes may share it
     TRUST_FAIL        CALL:N:HOW:COUNT: from the N-th CALL on, COUNT calls fail. CALL is write, sync, open, truncate,
                       unlink, read or any; or sync-log, sync-database, sync-directory or sync-other, for one kind of
                       file. HOW is EIO, ENOSPC, short: half of a write is done, or count: no call fails
     TRUST_MUTATE      FAULT:N: a fault of the program that is injected here after N syncs: sync-log, sync-database,
                       sync-directory or sync-other: such a sync is said to be done and is not; ignore: a failed sync is
                       said to be done

   Nothing is synced in fact: a sync is a record. Records are written with one call to a file in append mode, which the
   kernel keeps whole and in order. A write is recorded when it is done, a sync when it begins and when it ends, and bytes to
   a socket before they leave. So what a sync covers and what an answer promises are never flattered.

   SQLite's -shm files and the server's .lock are left out: they do not outlive the system. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    CREATE = 1, WRITE, ZERO, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, LINK, UNLINK, ACCEPT, SEND, SENT, FAULT
};

struct head {
    uint32_t length; /* of the payload */
    uint32_t kind;
    uint32_t process;
    uint32_t flag;
    int64_t file; /* an inode, or a descriptor */
    int64_t place;
};

/* What a descriptor leads to. */
enum { NONE = 0, FILE_HERE = 1, SOCKET = 2 };
static struct { int kind; int64_t inode; char role; } open_files[1 << 16];

static char directory[4096];
static size_t directory_length;
static int trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char fail_call[16], fail_how[16];
static long fail_from, fail_count, calls;
static char mutation[32];
static long mutation_from;

#define REAL(name) ((__typeof__(&name)) real(#name))
static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

static void begin(void) __attribute__((constructor));
static void begin(void) {
    const char *text;
    if (!(text = getenv("TRUST_DIRECTORY"))) return;
    snprintf(directory, sizeof directory, "%s", text);
    directory_length = strlen(directory);
    if ((text = getenv("TRUST_TRACE"))) trace = REAL(open)(text, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if ((text = getenv("TRUST_FAIL"))) sscanf(text, "%15[^:]:%ld:%15[^:]:%ld", fail_call, &fail_from, fail_how, &fail_count);
    if ((text = getenv("TRUST_MUTATE"))) sscanf(text, "%31[^:]:%ld", mutation, &mutation_from);
}

static void record(enum kind kind, uint32_t flag, int64_t file, int64_t place, const void *bytes, size_t length) {
    if (trace < 0) return;
    int saved = errno;
    struct head head = {length, kind, getpid(), flag, file, place};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *) bytes, length}};
    ssize_t done = REAL(writev)(trace, parts, length ? 2 : 1);
    if (done != (ssize_t) (sizeof head + length)) abort(); /* half a record would shift all later ones */
    errno = saved;
}

/* True if this call is to fail. Counts it. */
static int fails(const char *call) {
    if (!fail_from || (strcmp(fail_call, "any") && strcmp(fail_call, call))) return 0;
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (number < fail_from || number >= fail_from + fail_count) return 0;
    record(FAULT, 0, number, 0, call, strlen(call));
    errno = !strcmp(fail_how, "ENOSPC") ? ENOSPC : EIO;
    return strcmp(fail_how, "count") != 0;
}

static int is_short(void) { return !strcmp(fail_how, "short"); }

/* The part of a path after the directory and its slash; NULL if it is elsewhere, or is not recorded. */
static const char *within(const char *path) {
    if (!directory_length || !path || strncmp(path, directory, directory_length)) return NULL;
    path += directory_length;
    if (*path == 0) return path;
    if (*path != '/') return NULL;
    size_t length = strlen(path);
    if (length > 4 && !strcmp(path + length - 4, "-shm")) return NULL;
    if (length > 5 && !strcmp(path + length - 5, ".lock")) return NULL;
    return path + 1;
}

static int is_here(int fd) { return fd >= 0 && fd < 1 << 16 && open_files[fd].kind == FILE_HERE; }
static int is_socket(int fd) { return fd >= 0 && fd < 1 << 16 && open_files[fd].kind == SOCKET; }

static int opened(int fd, const char *name, int is_new) {
    struct stat status;
    if (fd < 0 || fd >= 1 << 16 || !name || fstat(fd, &status)) return fd;
    size_t length = strlen(name);
    open_files[fd].role = S_ISDIR(status.st_mode) ? 'd' : length > 4 && !strcmp(name + length - 4, "-wal") ? 'w'
        : length > 3 && !strcmp(name + length - 3, ".db") ? 'b' : 'o';
    open_files[fd].inode = status.st_ino;
    open_files[fd].kind = FILE_HERE;
    if (is_new) record(CREATE, 0, status.st_ino, 0, name, length);
    return fd;
}

static int open_here(const char *path, int flags, mode_t mode) {
    const char *name = within(path);
    if (!name) return REAL(open)(path, flags, mode);
    if (fails("open")) return -1;
    pthread_mutex_lock(&lock);
    struct stat status;
    int is_new = (flags & O_CREAT) && lstat(path, &status) && errno == ENOENT;
    int fd = opened(REAL(open)(path, flags, mode), name, is_new);
    if (fd >= 0 && !is_new && (flags & O_TRUNC)) record(TRUNCATE, 0, open_files[fd].inode, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return fd;
}

#define WITH_MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) { WITH_MODE return open_here(path, flags, mode); }
int open64(const char *path, int flags, ...) { WITH_MODE return open_here(path, flags, mode); }
int openat(int base, const char *path, int flags, ...) {
    WITH_MODE
    return path[0] == '/' ? open_here(path, flags, mode) : REAL(openat)(base, path, flags, mode);
}
int openat64(int base, const char *path, int flags, ...) {
    WITH_MODE
    return path[0] == '/' ? open_here(path, flags, mode) : REAL(openat)(base, path, flags, mode);
}

static int make_temporary(char *template, int (*make)(char *)) {
    if (within(template) && fails("open")) return -1;
    pthread_mutex_lock(&lock);
    int fd = make(template);
    opened(fd, within(template), 1);
    pthread_mutex_unlock(&lock);
    return fd;
}
int mkstemp(char *template) { return make_temporary(template, REAL(mkstemp)); }
int mkstemp64(char *template) { return make_temporary(template, REAL(mkstemp64)); }

int close(int fd) {
    if (fd >= 0 && fd < 1 << 16) open_files[fd].kind = NONE;
    return REAL(close)(fd);
}

/* --- Changes of files */

static void record_write(int fd, const char *bytes, int64_t place, int64_t length) {
    int64_t index = 0;
    while (index < length && !bytes[index]) index++;
    /* The reserve of the log is 16 MB of zeros. */
    if (index == length) return record(ZERO, 0, open_files[fd].inode, place, &length, sizeof length);
    record(WRITE, 0, open_files[fd].inode, place, bytes, length);
}

static ssize_t write_here(int fd, const void *bytes, size_t count, off_t place) {
    if (fails("write")) {
        if (!is_short() || count < 2) return -1;
        count /= 2;
    }
    pthread_mutex_lock(&lock);
    if (place < 0) place = lseek(fd, 0, SEEK_CUR);
    else if (lseek(fd, 0, SEEK_CUR) < 0) place = 0;
    ssize_t done = REAL(pwrite)(fd, bytes, count, place);
    if (done > 0) record_write(fd, bytes, place, done);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t place) {
    return is_here(fd) ? write_here(fd, bytes, count, place) : REAL(pwrite)(fd, bytes, count, place);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t place) { return pwrite(fd, bytes, count, place); }

/* Bytes to a socket: recorded before they leave, and how many have left. */
#define SENDING(fd, bytes, count, call) \
    if (!is_socket(fd)) return call; \
    record(SEND, 0, fd, 0, bytes, count); \
    ssize_t sent = call; \
    record(SENT, 0, fd, sent, NULL, 0); \
    return sent

ssize_t write(int fd, const void *bytes, size_t count) {
    if (is_here(fd)) {
        ssize_t done = write_here(fd, bytes, count, -1);
        if (done > 0) lseek(fd, done, SEEK_CUR);
        return done;
    }
    SENDING(fd, bytes, count, REAL(write)(fd, bytes, count));
}
ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    SENDING(fd, bytes, count, REAL(send)(fd, bytes, count, flags));
}
ssize_t sendto(int fd, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t length) {
    SENDING(fd, bytes, count, REAL(sendto)(fd, bytes, count, flags, to, length));
}

static char *joined(const struct iovec *parts, int count, size_t *length) {
    *length = 0;
    for (int i = 0; i < count; i++) *length += parts[i].iov_len;
    char *bytes = malloc(*length + 1), *end = bytes;
    if (!bytes) abort();
    for (int i = 0; i < count; i++) {
        memcpy(end, parts[i].iov_base, parts[i].iov_len);
        end += parts[i].iov_len;
    }
    return bytes;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!is_here(fd) && !is_socket(fd)) return REAL(writev)(fd, parts, count);
    size_t length;
    char *bytes = joined(parts, count, &length);
    ssize_t done = write(fd, bytes, length);
    free(bytes);
    return done;
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    /* A message with control data is none of an answer. */
    if (!is_socket(fd) || message->msg_controllen) return REAL(sendmsg)(fd, message, flags);
    size_t length;
    char *bytes = joined(message->msg_iov, message->msg_iovlen, &length);
    ssize_t done = send(fd, bytes, length, flags);
    free(bytes);
    return done;
}

int ftruncate(int fd, off_t length) {
    if (!is_here(fd)) return REAL(ftruncate)(fd, length);
    if (fails("truncate")) return -1;
    pthread_mutex_lock(&lock);
    int result = REAL(ftruncate)(fd, length);
    if (!result) record(TRUNCATE, 0, open_files[fd].inode, length, NULL, 0);
    pthread_mutex_unlock(&lock);
    return result;
}
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

static int allocate(int fd, off_t place, off_t length) {
    if (fails("write")) return errno;
    struct stat status;
    pthread_mutex_lock(&lock);
    int result = fstat(fd, &status) ? errno : 0;
    if (!result && status.st_size < place + length) {
        result = REAL(ftruncate)(fd, place + length) ? errno : 0;
        if (!result) record(TRUNCATE, 0, open_files[fd].inode, place + length, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
int posix_fallocate(int fd, off_t place, off_t length) {
    return is_here(fd) ? allocate(fd, place, length) : REAL(posix_fallocate)(fd, place, length);
}
int posix_fallocate64(int fd, off_t place, off_t length) { return posix_fallocate(fd, place, length); }

/* --- Syncs */

static const char *sync_of(int fd) {
    switch (open_files[fd].role) {
    case 'w': return "sync-log";
    case 'b': return "sync-database";
    case 'd': return "sync-directory";
    default: return "sync-other";
    }
}

static int sync_here(int fd) {
    static int64_t numbers;
    int64_t number = __atomic_add_fetch(&numbers, 1, __ATOMIC_SEQ_CST);
    if (number > mutation_from && !strcmp(mutation, sync_of(fd))) return 0;
    record(SYNC_BEGIN, 0, open_files[fd].inode, number, NULL, 0);
    int failed = strncmp(fail_call, "sync-", 5) ? fails("sync") : fails(sync_of(fd));
    record(SYNC_END, failed, open_files[fd].inode, number, NULL, 0);
    return failed && strcmp(mutation, "ignore") ? -1 : 0;
}
int fsync(int fd) { return is_here(fd) ? sync_here(fd) : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_here(fd) ? sync_here(fd) : REAL(fdatasync)(fd); }

/* --- Names */

static int renaming(enum kind kind, const char *from, const char *to, int (*call)(const char *, const char *)) {
    const char *old = within(from), *new = within(to);
    if (!old || !new) return call(from, to);
    if (fails("unlink")) return -1;
    char both[8192];
    int length = snprintf(both, sizeof both, "%s%c%s", old, 0, new);
    pthread_mutex_lock(&lock);
    int result = call(from, to);
    if (!result) record(kind, 0, 0, 0, both, length);
    pthread_mutex_unlock(&lock);
    return result;
}
int rename(const char *from, const char *to) { return renaming(RENAME, from, to, REAL(rename)); }
int link(const char *from, const char *to) { return renaming(LINK, from, to, REAL(link)); }

int unlink(const char *path) {
    const char *name = within(path);
    if (!name) return REAL(unlink)(path);
    if (fails("unlink")) return -1;
    pthread_mutex_lock(&lock);
    int result = REAL(unlink)(path);
    if (!result) record(UNLINK, 0, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
    return result;
}

/* --- Reads, which may fail */

ssize_t pread(int fd, void *bytes, size_t count, off_t place) {
    if (is_here(fd) && fails("read") && !is_short()) return -1;
    return REAL(pread)(fd, bytes, count, place);
}
ssize_t pread64(int fd, void *bytes, size_t count, off_t place) { return pread(fd, bytes, count, place); }
ssize_t read(int fd, void *bytes, size_t count) {
    if (is_here(fd) && fails("read") && !is_short()) return -1;
    return REAL(read)(fd, bytes, count);
}

/* --- Connections */

static int accepted(int fd) {
    if (fd < 0 || fd >= 1 << 16 || trace < 0) return fd;
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    if (getpeername(fd, (struct sockaddr *) &peer, &length)) return fd;
    int port = peer.ss_family == AF_INET ? ntohs(((struct sockaddr_in *) &peer)->sin_port)
        : peer.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *) &peer)->sin6_port) : 0;
    if (!port) return fd;
    open_files[fd].kind = SOCKET;
    record(ACCEPT, 0, fd, port, NULL, 0);
    return fd;
}
int accept(int fd, struct sockaddr *peer, socklen_t *length) { return accepted(REAL(accept)(fd, peer, length)); }
int accept4(int fd, struct sockaddr *peer, socklen_t *length, int flags) {
    return accepted(REAL(accept4)(fd, peer, length, flags));
}
