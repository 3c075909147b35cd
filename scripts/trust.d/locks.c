// Slow paths of Swift's Mutex as its library has them, with ThreadSanitizer told of the order that they make.
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

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
