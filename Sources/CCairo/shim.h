// SPDX-License-Identifier: MIT
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

// What is used of Pango, declared here as in <pango/pangocairo.h> of Pango 1.50: the compiler flags of its pkg-config
// file contain -pthread, which SwiftPM refuses with a warning in every build.
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoFontDescription PangoFontDescription;
enum { PANGO_SCALE = 1024, PANGO_WEIGHT_NORMAL = 400, PANGO_WEIGHT_BOLD = 700 };

PangoFontDescription *pango_font_description_new(void);
void pango_font_description_free(PangoFontDescription *);
void pango_font_description_set_family(PangoFontDescription *, const char *);
void pango_font_description_set_weight(PangoFontDescription *, int);
void pango_font_description_set_absolute_size(PangoFontDescription *, double);
PangoLayout *pango_cairo_create_layout(cairo_t *);
void pango_layout_set_font_description(PangoLayout *, const PangoFontDescription *);
void pango_layout_set_single_paragraph_mode(PangoLayout *, int);
void pango_layout_set_text(PangoLayout *, const char *, int);
void pango_layout_get_pixel_size(PangoLayout *, int *, int *);
void pango_cairo_layout_path(cairo_t *, PangoLayout *);
void pango_cairo_show_layout(cairo_t *, PangoLayout *);
void g_object_unref(void *);
