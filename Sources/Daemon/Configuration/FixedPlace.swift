// SPDX-License-Identifier: MIT

/// Where a value is that only a restart changes: how two configurations are compared in it, and how one takes
/// it from the other.
struct FixedPlace<Target>: Sendable {
    let differs: @Sendable (Target, Target) -> Bool
    let keep: @Sendable (_ old: Target, _ new: inout Target) -> Void

    static func at<Value: Equatable & SendableMetatype>(
        _ place: WritableKeyPath<Target, Value> & Sendable
    ) -> FixedPlace {
        FixedPlace {
            $0[keyPath: place] != $1[keyPath: place]
        } keep: { old, new in
            new[keyPath: place] = old[keyPath: place]
        }
    }

    /// The same place in what contains the target.
    func within<Outer>(_ target: WritableKeyPath<Outer, Target> & Sendable) -> FixedPlace<Outer> {
        FixedPlace<Outer> { [differs] in
            differs($0[keyPath: target], $1[keyPath: target])
        } keep: { [keep] old, new in
            keep(old[keyPath: target], &new[keyPath: target])
        }
    }
}
