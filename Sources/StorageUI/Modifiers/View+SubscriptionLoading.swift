#if canImport(SwiftUI)
    public import SwiftUI

    extension View {
        /// Shows that values are loading, over the content, which stays visible.
        public func withSubscriptionLoading(_ subscription: some SubscriptionStatus) -> some View {
            overlay {
                if subscription.isLoading { ProgressView() }
            }
        }
    }
#endif
