// SPDX-License-Identifier: MIT
import CLibuv

/// A libuv handle's memory, freed in its close callback and nowhere else (libuv, "The I/O loop").
///
/// Invariant: libuv initialises `raw` right after `init`, and it is used only until `close`. Its data pointer
/// refers, unretained, to the owner, and is nil after `close`.
struct Handle<Raw> {
    let raw: UnsafeMutablePointer<Raw>

    init() { raw = .allocate(capacity: 1) }

    var base: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    func setOwner(_ owner: AnyObject) { base.pointee.data = Unmanaged.passUnretained(owner).toOpaque() }

    func close() {
        base.pointee.data = nil
        uv_close(base) { handle in handle.map { UnsafeMutableRawPointer($0).deallocate() } }
    }

    /// Frees a handle that libuv never initialised.
    func discard() { raw.deallocate() }

    /// Returns the owner, in a callback.
    static func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
        data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
    }
}
