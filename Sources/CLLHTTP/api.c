// SPDX-License-Identifier: MIT
#include "/usr/share/llhttp/api.c"
