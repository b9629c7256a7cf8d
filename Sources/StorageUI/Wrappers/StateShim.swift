#if canImport(SwiftUI)
    internal import SwiftUI

    /// Keeps a value as long as the view on the screen lives, however often its struct is made anew.
    typealias StateShim<Value> = SwiftUI.State<Value>
#else
    /// Keeps a value as long as its owner lives. Where there is SwiftUI, this is its `State`.
    @propertyWrapper
    struct StateShim<Value> {
        let wrappedValue: Value
    }
#endif
