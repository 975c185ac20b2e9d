//! Finds a page of a long list.

use preauth_core::port::PageRequest;

/// The rows of a list to read, counted from the nearer end: reading from the far end would walk
/// through all rows between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    Empty,
    FromNewest { skip: u64, take: u64 },
    FromOldest { skip: u64, take: u64 },
}

impl Window {
    pub(super) fn of(page: PageRequest, total: u64) -> Self {
        let skip = page.offset();
        let rest = total.saturating_sub(skip);
        let take = rest.min(u64::from(page.limit));
        if take == 0 {
            Self::Empty
        } else if skip <= rest {
            Self::FromNewest { skip, take }
        } else {
            let skip = rest.saturating_sub(take);
            Self::FromOldest { skip, take }
        }
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::port::PageRequest;

    use super::Window;

    fn window(page: u64, limit: u32, total: u64) -> Window {
        Window::of(PageRequest { page, limit }, total)
    }

    #[test]
    fn the_first_half_is_read_from_the_newest() {
        let (skip, take) = (0, 20);
        assert_eq!(window(1, 20, 100), Window::FromNewest { skip, take });
        assert_eq!(window(1, 20, 20), Window::FromNewest { skip, take });
        let (skip, take) = (40, 20);
        assert_eq!(window(3, 20, 100), Window::FromNewest { skip, take });
    }

    #[test]
    fn the_second_half_is_read_from_the_oldest() {
        let (skip, take) = (20, 20);
        assert_eq!(window(4, 20, 100), Window::FromOldest { skip, take });
        let (skip, take) = (0, 5);
        assert_eq!(window(6, 20, 105), Window::FromOldest { skip, take });
    }

    #[test]
    fn a_page_beyond_the_end_is_empty() {
        assert_eq!(window(6, 20, 100), Window::Empty);
        assert_eq!(window(1, 20, 0), Window::Empty);
        assert_eq!(window(u64::MAX, 100, u64::MAX - 1), Window::Empty);
    }

    #[test]
    fn every_page_together_shows_every_row_once() {
        for total in 0..30 {
            let mut seen = [0; 30];
            for page in 1..=16 {
                let (first, take) = match window(page, 2, total) {
                    Window::Empty => (0, 0),
                    Window::FromNewest { skip, take } => (skip, take),
                    Window::FromOldest { skip, take } => (total - skip - take, take),
                };
                for n in first..first + take {
                    seen[usize::try_from(n).unwrap()] += 1;
                }
            }
            let expected = |n| u32::from(u64::try_from(n).unwrap() < total);
            assert!((0..30).all(|n| seen[n] == expected(n)), "{total}");
        }
    }
}
