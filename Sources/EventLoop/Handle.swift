// SPDX-License-Identifier: MIT
import CLibuv

/// Memory for one of libuv's structures.
///
/// Invariant: `raw` is uninitialised until libuv initialises it, and valid until `free`.
struct LoopMemory<Raw> {
    let raw: UnsafeMutablePointer<Raw>

    init() { raw = .allocate(capacity: 1) }

    func free() { raw.deallocate() }
}

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

/// One of libuv's requests, such as a write, and the object that waits for its end. Both are kept until the end.
///
/// Invariant: the request's data pointer refers to `payload`, retained, until `end` or `discard`, either of which is called once.
struct Request<Raw, Payload: AnyObject> {
    let raw: UnsafeMutablePointer<Raw>
    private let data: UnsafeMutableRawPointer

    /// - Parameter setData: stores the data pointer in the request.
    init(_ payload: Payload, _ setData: (UnsafeMutablePointer<Raw>, UnsafeMutableRawPointer) -> Void) {
        raw = .allocate(capacity: 1)
        data = Unmanaged.passRetained(payload).toOpaque()
        setData(raw, data)
    }

    /// Frees a request that libuv has refused.
    func discard() {
        raw.deallocate()
        Unmanaged<Payload>.fromOpaque(data).release()
    }

    /// The payload of a request that has not ended, in a callback.
    static func payload(_ data: UnsafeMutableRawPointer?) -> Payload? {
        data.map { Unmanaged<Payload>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Frees a request that has ended, in its callback, and returns its payload.
    static func end(_ request: UnsafeMutablePointer<Raw>?, _ data: UnsafeMutableRawPointer?) -> Payload? {
        request?.deallocate()
        return data.map { Unmanaged<Payload>.fromOpaque($0).takeRetainedValue() }
    }
}

extension EventLoop {
    /// libuv's loop, for the handles on it.
    var raw: UnsafeMutablePointer<uv_loop_t> { loop.raw }
}

/// The memory into which a loop reads. One buffer serves all connections, because a read is consumed before the next.
final class ReadBuffer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    deinit { memory.deallocate() }
}
