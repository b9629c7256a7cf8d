#if canImport(SwiftUI)
    public import SwiftUI

    extension SearchSubscription {
        /// A binding of the searched text, for a search field: `.searchable(text: $found.text)`.
        public var text: Binding<String> { Bindable(self).searchText }
    }
#endif
