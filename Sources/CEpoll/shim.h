// SPDX-License-Identifier: MIT
#include <sys/epoll.h>
