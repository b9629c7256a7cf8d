#if canImport(SwiftUI)
    public import SwiftUI

    extension View {
        /// Reloads everything on pull to refresh. Views don't need it to stay up to date; it is for users who expect the gesture.
        public func withRefreshable(_ subscription: some SubscriptionStatus) -> some View {
            refreshable { await subscription.refresh() }
        }
    }
#endif
