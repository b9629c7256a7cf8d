#if canImport(SwiftUI)
    internal import SwiftUI

    /// Keeps a value as long as the view is on the screen, however often its struct is created again.
    typealias StateShim<Value> = SwiftUI.State<Value>
#else
    /// Keeps a value as long as its owner lives. With SwiftUI, this is its `State`.
    @propertyWrapper
    struct StateShim<Value> {
        let wrappedValue: Value
    }
#endif
