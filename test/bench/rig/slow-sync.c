// Preloaded into weir: each fsync and fdatasync takes 50 ms, like a slow disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#define DELAY_US 50000

static int delayed(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  usleep(DELAY_US);
  return real(fd);
}

int fsync(int fd) { return delayed("fsync", fd); }
int fdatasync(int fd) { return delayed("fdatasync", fd); }
