//! A strict parser of Prometheus' text format: what it accepts, every Prometheus accepts.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a series.
pub(crate) type Labels = BTreeMap<String, String>;

/// One scrape.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    pub(crate) text: String,
    pub(crate) families: Vec<Family>,
}

/// One metric with all its series.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Name with suffix, labels, value.
    samples: Vec<(String, Labels, f64)>,
}

impl Exposition {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if !text.ends_with('\n') {
            return Err("the last line does not end".to_owned());
        }
        let mut read = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        let mut lines = text.lines();
        let mut help: Option<&str> = None;
        for line in &mut lines {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, sentence) = rest.split_once(' ').ok_or("a HELP without a text")?;
                if help.is_some() || sentence.trim().is_empty() {
                    return Err(format!("HELP of {name} is out of place or empty"));
                }
                help = Some(name);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').ok_or("a TYPE without a kind")?;
                if help.take() != Some(name) {
                    return Err(format!("TYPE of {name} does not follow its HELP"));
                }
                read.begin(name, kind)?;
            } else {
                let family = read.families.last_mut().filter(|_| help.is_none());
                let family = family.ok_or_else(|| format!("nothing is declared before {line}"))?;
                family.add(line)?;
            }
        }
        read.families.iter().try_for_each(Family::check)?;
        Ok(read)
    }

    fn begin(&mut self, name: &str, kind: &str) -> Result<(), String> {
        let is_known = ["counter", "gauge", "histogram"].contains(&kind);
        let is_again = self.families.iter().any(|family| family.name == name);
        if !is_name(name) || !is_known || is_again {
            return Err(format!("{name} {kind} is no new metric"));
        }
        if (kind == "counter") != name.ends_with("_total") {
            return Err(format!("{name} is not named like a {kind}"));
        }
        self.families.push(Family {
            name: name.to_owned(),
            kind: kind.to_owned(),
            samples: Vec::new(),
        });
        Ok(())
    }

    /// Whether the scrape has exactly this line.
    pub(crate) fn has_line(&self, line: &str) -> bool {
        self.text.lines().any(|it| it == line)
    }

    /// The value of `name` with exactly these labels, if present.
    pub(crate) fn find(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels: Labels = labels
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect();
        self.samples()
            .find(|sample| sample.0 == name && sample.1 == labels)
            .map(|sample| sample.2)
    }

    /// The value of `name` with exactly these labels.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.find(name, labels)
            .unwrap_or_else(|| panic!("no {name} {labels:?} in {self:#?}"))
    }

    /// All values of one label of `name`.
    pub(crate) fn labels(&self, name: &str, label: &str) -> BTreeSet<String> {
        self.samples()
            .filter(|sample| sample.0 == name)
            .filter_map(|sample| sample.1.get(label).cloned())
            .collect()
    }

    /// All values of all labels.
    pub(crate) fn label_values(&self) -> BTreeSet<&str> {
        let values = self.samples().flat_map(|sample| sample.1.values());
        values.map(String::as_str).collect()
    }

    fn samples(&self) -> impl Iterator<Item = &(String, Labels, f64)> {
        self.families.iter().flat_map(|family| &family.samples)
    }
}

impl Family {
    fn add(&mut self, line: &str) -> Result<(), String> {
        let broken = || format!("not a sample: {line}");
        let end = line.find(['{', ' ']).ok_or_else(broken)?;
        let (name, rest) = line.split_at(end);
        let (labels, value) = match rest.strip_prefix('{') {
            Some(rest) => read_labels(rest).ok_or_else(broken)?,
            None => (Labels::new(), rest),
        };
        let value = value.strip_prefix(' ').ok_or_else(broken)?;
        let value: f64 = value.parse().map_err(|_| broken())?;
        let suffix = name.strip_prefix(&self.name).ok_or_else(broken)?;
        let fits = match self.kind.as_str() {
            "histogram" => ["_bucket", "_sum", "_count"].contains(&suffix),
            _ => suffix.is_empty(),
        };
        let is_again = self
            .samples
            .iter()
            .any(|sample| sample.0 == name && sample.1 == labels);
        if !fits || is_again || !value.is_finite() {
            return Err(broken());
        }
        if self.kind != "gauge" && value < 0.0 {
            return Err(broken());
        }
        self.samples.push((name.to_owned(), labels, value));
        Ok(())
    }

    /// A family has a sample; a histogram's buckets grow and the last one is the total.
    fn check(&self) -> Result<(), String> {
        let broken = || format!("{} is not whole", self.name);
        if self.samples.is_empty() {
            return Err(broken());
        }
        if self.kind != "histogram" {
            return Ok(());
        }
        let mut buckets: BTreeMap<Labels, Vec<(String, f64)>> = BTreeMap::new();
        for (name, labels, value) in &self.samples {
            if name.ends_with("_bucket") {
                let mut labels = labels.clone();
                let bound = labels.remove("le").ok_or_else(broken)?;
                buckets.entry(labels).or_default().push((bound, *value));
            }
        }
        for (labels, buckets) in &buckets {
            let count = self
                .samples
                .iter()
                .find(|(name, of, _)| name.ends_with("_count") && of == labels);
            let (last_bound, all) = buckets.last().ok_or_else(broken)?;
            let is_rising = buckets.windows(2).all(|pair| {
                let bound = |at: usize| pair[at].0.parse::<f64>().unwrap_or(f64::NAN);
                bound(0) < bound(1) && pair[0].1 <= pair[1].1
            });
            #[expect(clippy::float_cmp, reason = "both are written from one whole number")]
            let is_all = count.is_some_and(|(_, _, count)| count == all);
            if !is_rising || last_bound != "+Inf" || !is_all {
                return Err(broken());
            }
        }
        Ok(())
    }
}

/// Reads `a="b",c="d"} rest`.
fn read_labels(mut rest: &str) -> Option<(Labels, &str)> {
    let mut labels = Labels::new();
    loop {
        let (label, after) = rest.split_once("=\"")?;
        let (value, after) = read_value(after)?;
        let is_new = labels.insert(label.to_owned(), value).is_none();
        if !is_new || !is_name(label) || label.contains(':') {
            return None;
        }
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => return Some((labels, after.strip_prefix('}')?)),
        }
    }
}

/// Reads up to the quote that ends a value.
fn read_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                escaped @ ('\\' | '"') => escaped,
                _ => return None,
            }),
            _ => value.push(character),
        }
    }
    None
}

fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    text.starts_with(is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

#[test]
fn a_malformed_exposition_is_refused() {
    let good = "# HELP a_total Help.\n# TYPE a_total counter\na_total{b=\"c\\\"d\"} 1\n";
    let read = Exposition::parse(good).unwrap();
    assert_eq!(read.find("a_total", &[("b", "c\"d")]), Some(1.0));
    for bad in [
        "",
        "a_total 1\n",
        "# TYPE a_total counter\na_total 1\n",
        "# HELP a_total Help.\n# TYPE a_total counter\n",
        "# HELP a_total Help.\n# TYPE a_total counter\na_total 1",
        "# HELP a_total Help.\n# TYPE a_total counter\na_total 1\na_total 2\n",
        "# HELP a_total Help.\n# TYPE a_total counter\na_total -1\n",
        "# HELP a_total Help.\n# TYPE a_total counter\nb_total 1\n",
        "# HELP a Help.\n# TYPE a counter\na 1\n",
        "# HELP a_total Help.\n# TYPE a_total counter\na_total{b=\"c} 1\n",
        "# HELP a_total Help.\n# TYPE a_total counter\na_total{b=\"c\",b=\"d\"} 1\n",
        "# HELP a Help.\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_sum 2\na_count 2\n",
        "# HELP a Help.\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 2\na_count 1\n",
    ] {
        assert!(Exposition::parse(bad).is_err(), "{bad}");
    }
}
