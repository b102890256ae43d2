// SPDX-License-Identifier: MIT

/// The type of a configuration member.
indirect enum ConfigurationKind {
    case text
    /// An integer of at least the minimum.
    case integer(minimum: Int64)
    case boolean
    case oneOf([String])
    case list(ConfigurationKind)
    /// A user's or a group's name or number.
    case account
    /// An object with its own members.
    case members([ConfigurationEntry])
    /// An object whose members are such objects, by name.
    case table([ConfigurationEntry])
    /// A source's options, as `CreateSource` takes them.
    case sourceOptions
    /// A value of the first kind, or an object of the second.
    case either(ConfigurationKind, ConfigurationKind)
}
