/// A type with a property of any name: the compiler resolves key paths to misspelt properties with it.
///
/// Calls that take a column by a property or by its name are overloaded. For a misspelt property the compiler would
/// report that it isn't a `String`; with one more overload, which is unavailable and accepts any name, it reports what
/// is wrong.
@dynamicMemberLookup
public struct _NoColumn {
    /// A key path that fits any name.
    public typealias Path = KeyPath<_NoColumn, _NoColumn>

    private init() {}

    /// The same again, so that properties of properties fit.
    public subscript(dynamicMember name: String) -> _NoColumn { self }
}
