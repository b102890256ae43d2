// SPDX-License-Identifier: MIT
// Preloaded into clusterd, it makes calls to the file system fail, wait or be recorded. The test changes what it does
// through a shared file while the daemon runs.
//
//   FAULT_DIRECTORY  only calls about paths below it count
//   FAULT_CONTROL    the shared file: struct control
//   FAULT_RECORD     if set, the file to which all changes of the directory are appended: struct entry, then its bytes
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum operation { OPEN, CREATE, READ, WRITE, SYNC, SYNC_DIRECTORY, TRUNCATE, RENAME, UNLINK, RMDIR, MKDIR, LIST, LINK, MAP, ENTRY, ALLOCATE, OPERATIONS };

struct control {
    _Atomic uint32_t operations;  // a bit for each operation that may fail; 0: none
    _Atomic int32_t before;       // how many of them succeed first
    _Atomic int32_t count;        // how many then fail; negative: all
    _Atomic int32_t error;        // errno; 0: the call waits, then succeeds; -1: half of a write is written; -2: SIGKILL
    _Atomic uint32_t wait;        // milliseconds, if error is 0
    _Atomic uint32_t seen;        // calls that matched
    _Atomic uint32_t failed;      // calls that failed, or waited
    char path[240];               // what the path has to contain; empty: anything
};

struct entry { uint32_t operation, path, target, data; int64_t offset; };

enum { MOST_FILES = 1 << 16 };
static struct control *control;
static const char *directory;
static int record_file = -1;
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static char *_Atomic names[MOST_FILES];  // by descriptor, of files below the directory

static void *shared(const char *path, size_t size) {
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    void *memory = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    return memory == MAP_FAILED ? NULL : memory;
}

__attribute__((constructor)) static void begin(void) {
    directory = getenv("FAULT_DIRECTORY");
    if (getenv("FAULT_CONTROL")) control = shared(getenv("FAULT_CONTROL"), sizeof *control);
    if (getenv("FAULT_RECORD")) {
        int file = syscall(SYS_openat, AT_FDCWD, getenv("FAULT_RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        // High, so that descriptors are those that the daemon has without this.
        record_file = syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 1000);
        syscall(SYS_close, file);
    }
}

static int counts(const char *path) { return directory && path && !strncmp(path, directory, strlen(directory)); }
static const char *name(int file) { return file >= 0 && file < MOST_FILES ? names[file] : NULL; }
static void set_name(int file, const char *path) {
    if (file < 0 || file >= MOST_FILES) return;
    free(atomic_exchange(&names[file], path ? strdup(path) : NULL));
}

// What a call has to do: 0 succeed, else an errno, or -1 for a short write.
static int fault(enum operation operation, const char *path) {
    if (!control || !counts(path) || !(control->operations & 1u << operation)) return 0;
    if (control->path[0] && !strstr(path, control->path)) return 0;
    control->seen++;
    if (control->before > 0 && atomic_fetch_sub(&control->before, 1) > 0) return 0;
    if (control->count >= 0 && atomic_fetch_sub(&control->count, 1) <= 0) {
        control->count = 0;
        return 0;
    }
    control->failed++;
    if (control->error == -2) kill(getpid(), 9);
    if (control->error == 0) {
        uint32_t waited = 0;
        // The test may let it go on by changing the time.
        for (; waited < control->wait; waited += 10) nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
    }
    return control->error;
}

static void record(enum operation operation, const char *path, const char *target, int64_t offset, const void *data, size_t size) {
    if (record_file < 0 || !counts(path)) return;
    struct entry entry = {operation, strlen(path), target ? strlen(target) : 0, size, offset};
    size_t total = sizeof entry + entry.path + entry.target + size;
    char *bytes = malloc(total), *end = bytes;
    end = mempcpy(end, &entry, sizeof entry);
    end = mempcpy(end, path, entry.path);
    end = mempcpy(end, target ? target : "", entry.target);
    mempcpy(end, data ? data : "", size);
    pthread_mutex_lock(&recording);
    for (size_t done = 0; done < total;) {
        ssize_t count = syscall(SYS_write, record_file, bytes + done, total - done);
        if (count <= 0) _exit(99);
        done += count;
    }
    pthread_mutex_unlock(&recording);
    free(bytes);
}

#define FAIL(operation, path, failure) \
    do { int code = fault(operation, path); if (code > 0) { errno = code; return failure; } } while (0)
#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0;
    va_end(arguments);
    FAIL(flags & O_CREAT ? CREATE : OPEN, path, -1);
    int file = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (file >= 0) set_name(file, counts(path) ? path : NULL);
    if (file >= 0 && flags & (O_CREAT | O_TRUNC)) record(CREATE, path, NULL, flags & O_TRUNC ? 1 : 0, NULL, 0);
    return file;
}
int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return open(path, flags, mode);
}
int close(int file) {
    set_name(file, NULL);
    return syscall(SYS_close, file);
}
ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
    FAIL(READ, name(file), -1);
    return syscall(SYS_pread64, file, bytes, size, offset);
}
ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) { return pread(file, bytes, size, offset); }
ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    const char *path = name(file);
    int code = fault(WRITE, path);
    if (code > 0) { errno = code; return -1; }
    ssize_t count = syscall(SYS_pwrite64, file, bytes, code == -1 && size > 1 ? size / 2 : size, offset);
    if (count > 0 && path) record(WRITE, path, NULL, offset, bytes, count);
    return count;
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) { return pwrite(file, bytes, size, offset); }
int fdatasync(int file) {
    FAIL(SYNC, name(file), -1);
    // The tests end processes, not machines: waiting for a disk would only take time.
    if (name(file)) record(SYNC, name(file), NULL, 0, NULL, 0);
    return name(file) ? 0 : (int)syscall(SYS_fdatasync, file);
}
int fsync(int file) {
    FAIL(SYNC_DIRECTORY, name(file), -1);
    if (name(file)) record(SYNC_DIRECTORY, name(file), NULL, 0, NULL, 0);
    return name(file) ? 0 : (int)syscall(SYS_fsync, file);
}
int ftruncate(int file, off_t size) {
    FAIL(TRUNCATE, name(file), -1);
    int status = syscall(SYS_ftruncate, file, size);
    if (!status && name(file)) record(TRUNCATE, name(file), NULL, size, NULL, 0);
    return status;
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }
int posix_fallocate(int file, off_t offset, off_t size) {
    char link[32], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    int code = fault(ALLOCATE, path);
    if (code > 0) return code;
    return syscall(SYS_fallocate, file, 0, offset, size) ? errno : 0;
}
int posix_fallocate64(int file, off64_t offset, off64_t size) { return posix_fallocate(file, offset, size); }
int rename(const char *from, const char *to) {
    FAIL(RENAME, from, -1);
    int status = syscall(SYS_rename, from, to);
    if (!status) record(RENAME, from, to, 0, NULL, 0);
    return status;
}
int unlink(const char *path) {
    FAIL(UNLINK, path, -1);
    int status = syscall(SYS_unlink, path);
    if (!status) record(UNLINK, path, NULL, 0, NULL, 0);
    return status;
}
int rmdir(const char *path) {
    FAIL(RMDIR, path, -1);
    int status = syscall(SYS_rmdir, path);
    if (!status) record(RMDIR, path, NULL, 0, NULL, 0);
    return status;
}
int mkdir(const char *path, mode_t mode) {
    FAIL(MKDIR, path, -1);
    int status = syscall(SYS_mkdir, path, mode);
    if (!status) record(MKDIR, path, NULL, 0, NULL, 0);
    return status;
}
int link(const char *from, const char *to) {
    FAIL(LINK, from, -1);
    int status = syscall(SYS_link, from, to);
    if (!status) record(LINK, from, to, 0, NULL, 0);
    return status;
}
DIR *opendir(const char *path) {
    FAIL(LIST, path, NULL);
    return NEXT(opendir)(path);
}
struct dirent *readdir(DIR *list) {
    char link[32], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd(list));
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    FAIL(ENTRY, path, NULL);
    return NEXT(readdir)(list);
}
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    // Memory of the process itself fails too, as without room for more.
    if (control && control->operations & 1u << MAP && file < 0 && size >= 1 << 12 && directory) {
        FAIL(MAP, directory, MAP_FAILED);
    }
    if (file >= 0 && name(file)) FAIL(MAP, name(file), MAP_FAILED);
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}
// What CLOCK_REALTIME is ahead, in seconds.
int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = syscall(SYS_clock_gettime, clock, time);
    const char *ahead = getenv("FAULT_CLOCK");
    if (clock == CLOCK_REALTIME && ahead) time->tv_sec += atol(ahead);
    return status;
}
