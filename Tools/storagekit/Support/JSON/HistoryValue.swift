/// A value of a column in a line of change history.
///
/// Text, blobs and JSON are slices: see `ByteSlice` for their lifetime.
enum HistoryValue {
    case null
    case bool(Bool)
    /// A number without fraction and exponent.
    case integer(Int64)
    /// A number with a fraction or an exponent, `-0`, or `{"$real":"Infinity"}`.
    case real(Double)
    /// Text with its escapes resolved, in valid UTF-8 without NUL.
    case text(ByteSlice)
    /// The bytes of `{"$blob":"base64"}`.
    case blob(ByteSlice)
    /// The source of an array or object without the white space between its tokens.
    case json(ByteSlice)

    var isNull: Bool {
        if case .null = self { true } else { false }
    }
}
