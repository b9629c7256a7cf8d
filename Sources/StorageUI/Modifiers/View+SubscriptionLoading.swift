#if canImport(SwiftUI)
    public import SwiftUI

    extension View {
        /// Shows that values are still on their way, over what there is to see meanwhile.
        public func withSubscriptionLoading(_ subscription: some SubscriptionStatus) -> some View {
            overlay {
                if subscription.isLoading { ProgressView() }
            }
        }
    }
#endif
