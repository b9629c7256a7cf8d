/// A type with a property of any name, which the compiler uses for key paths to misspelt properties.
///
/// Some calls take a column either as a property or by name. For a misspelt property the compiler would report that it isn't a
/// `String`. A third overload, unavailable and with any name, makes it report the actual error.
@dynamicMemberLookup
public struct _NoColumn {
    /// A key path that fits any name.
    public typealias Path = KeyPath<_NoColumn, _NoColumn>

    private init() {}

    /// Returns the same type, so that nested properties are accepted too.
    public subscript(dynamicMember name: String) -> _NoColumn { self }
}
