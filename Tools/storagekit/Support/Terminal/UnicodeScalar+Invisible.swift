extension Unicode.Scalar {
    /// Whether it isn't seen where text is shown: control characters, changes of direction, zero widths, variation selectors, tags, and the
    /// blank of Braille. Unicode has most of them as Default_Ignorable_Code_Point.
    var isInvisible: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0: true
        case ..<0x7f: false
        case 0x2028, 0x2029, 0x2800, 0xfff9...0xfffb: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
