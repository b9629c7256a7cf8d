#if canImport(SwiftUI)
    public import SwiftUI

    extension SearchSubscription {
        /// The text that is searched for, for a search field: `.searchable(text: $found.text)`.
        public var text: Binding<String> { Bindable(self).searchText }
    }
#endif
