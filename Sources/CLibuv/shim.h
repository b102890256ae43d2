#include <malloc.h>
#include <uv.h>
