// Parts of Swift's libraries that order threads, with ThreadSanitizer told of the order that they make: it sees nothing of what is in the
// libraries themselves.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// Slow paths of Mutex, as its library has them.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void lock_slow(uint32_t thread, SELF uint32_t *word) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(SELF uint32_t *word) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lock_slow(uint32_t thread, SELF uint32_t *word) {
    (void)thread;
    while (syscall(SYS_futex, word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0) != 0)
        if (errno != EINTR && errno != EAGAIN) abort();
    __tsan_acquire(word);
}

SWIFT void unlock_slow(SELF uint32_t *word) {
    __tsan_release(word);
    while (syscall(SYS_futex, word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0) != 0)
        if (errno != EINTR && errno != EAGAIN) abort();
}

// A thread that finds itself the only owner of an object, such as an array's buffer, changes or frees it. That comes after all that the
// former owners did before they released it.

// Calls what the library has under the same name.
#define LIBRARY(name)                                              \
    static __typeof__(&name) library;                              \
    if (!__atomic_load_n(&library, __ATOMIC_RELAXED))              \
        __atomic_store_n(&library, (__typeof__(library))dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED)

// Gives up references to an object, unless the library must do it: the last one is among them, or the count is elsewhere. Returns true if
// it has. The look at the count and the change are one step, or two threads could both find that they are not the last.
static bool gave_up(void *object, int64_t references) {
    // The library ignores null and addresses with the highest bit.
    if ((intptr_t)object <= 0) return false;
    // The second word counts the references but one in its bits from 33 on. It is negative if the count is elsewhere.
    int64_t *word = (int64_t *)object + 1;
    int64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (old >= 0 && old >> 33 >= references) {
        __tsan_release(object);
        if (__atomic_compare_exchange_n(word, &old, old - (references << 33), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return true;
    }
    if (old >= 0)
        __tsan_acquire(object);
    else
        __tsan_release(object);
    return false;
}

// The address in a value that may have marks in other bits.
static void *unmarked(void *value) { return (void *)((uintptr_t)value & 0x80fffffffffffff9); }

void swift_release(void *object) {
    LIBRARY(swift_release);
    if (!gave_up(object, 1)) library(object);
}

void swift_release_n(void *object, uint32_t count) {
    LIBRARY(swift_release_n);
    if (!gave_up(object, count)) library(object, count);
}

void swift_bridgeObjectRelease(void *value) { swift_release(unmarked(value)); }

void swift_bridgeObjectRelease_n(void *value, int count) { swift_release_n(unmarked(value), (uint32_t)count); }

bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
    LIBRARY(swift_isUniquelyReferenced_nonNull_native);
    bool isUnique = library(object);
    if (isUnique) __tsan_acquire((void *)object);
    return isUnique;
}
