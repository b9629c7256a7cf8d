#if canImport(SwiftUI)
    public import StorageSubscriptions
    public import SwiftUI

    extension View {
        /// Reads everything anew when somebody pulls the list down. There is no need to: it is for those who like to.
        public func withRefreshable(_ subscription: some SubscriptionStatus) -> some View {
            refreshable { await subscription.refresh() }
        }
    }
#endif
