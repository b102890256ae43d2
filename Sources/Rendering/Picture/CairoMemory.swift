// SPDX-License-Identifier: MIT
import CCairo
import CWorldOutline

// Memory that C code owns or fills, as values that Swift owns. Each pointer is used only within a call.

/// The bytes that Cairo writes to a stream.
///
/// Invariant: whoever passes `closure` to Cairo keeps this object for as long as Cairo may write.
final class ByteSink {
    private(set) var bytes: [UInt8] = []

    var closure: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let append: cairo_write_func_t = { closure, data, count in
        guard let closure, let data else { return CAIRO_STATUS_WRITE_ERROR }
        let sink = Unmanaged<ByteSink>.fromOpaque(closure).takeUnretainedValue()
        sink.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
        return CAIRO_STATUS_SUCCESS
    }
}

/// An image in memory.
///
/// Invariant: `surface` is a reference that this object owns.
final class PixelImage {
    let surface: OpaquePointer

    /// Nil if there is no memory.
    init?(_ format: cairo_format_t, width: Int, height: Int) {
        guard let made = cairo_image_surface_create(format, Int32(width), Int32(height)) else { return nil }
        surface = made
    }

    deinit { cairo_surface_destroy(surface) }

    /// The bytes of a row; empty if Cairo could not make the image.
    private func row(_ number: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let stride = Int(cairo_image_surface_get_stride(surface))
        let pixels = cairo_image_surface_get_data(surface).map { $0 + number * stride }
        return UnsafeMutableBufferPointer(start: pixels, count: pixels == nil ? 0 : stride)
    }

    /// Sets each pixel of 32 bits to a value of a table, by the pixel of 8 bits at the same position.
    func fill(from densities: PixelImage, through table: [UInt32], width: Int, height: Int) {
        cairo_surface_flush(densities.surface)
        cairo_surface_flush(surface)
        for number in 0..<height {
            let from = densities.row(number)
            let into = UnsafeMutableRawBufferPointer(row(number))
            for column in 0..<min(width, from.count, into.count / 4) {
                into.storeBytes(of: table[Int(from[column])], toByteOffset: column * 4, as: UInt32.self)
            }
        }
        cairo_surface_mark_dirty(surface)
    }
}

extension WorldOutline {
    /// The text of the outline that is built into the program.
    static var embeddedText: [UInt8] {
        Array(UnsafeRawBufferPointer(start: world_outline_bytes(), count: world_outline_size()))
    }
}

/// Releases an object of GLib.
func releaseObject(_ object: OpaquePointer) { g_object_unref(UnsafeMutableRawPointer(object)) }
