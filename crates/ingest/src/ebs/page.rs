//! The raw page: 4,096 bytes, little endian, without padding. Several pages are samples in sequence.

use plimsoll_language::label;

use super::{COUNTER_COUNT, EbsStatistics, HISTOGRAMS, MAX_BINS};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::reading::{Doubt, Fate, LatencyBin, ReadingScope};
use crate::refusal::Refusal;
use crate::sampled::SampleInterval;

/// Bytes of the page.
pub const EBS_PAGE_BYTES: usize = 4_096;

/// Magic numbers of volumes, and of the instance's own disks.
const EBS_MAGIC: u32 = 0x3C23_B510;
const INSTANCE_STORE_MAGIC: u32 = 0xEC2C_0D7E;

/// The first counter, which others of 8 bytes follow; then the length of the queue.
const COUNTERS_AT: usize = 8;
/// The histogram of reads, and the length of a histogram and of a bin.
const HISTOGRAMS_AT: usize = 512;
const BIN_BYTES: usize = 24;
const HISTOGRAM_BYTES: usize = 8 + MAX_BINS * BIN_BYTES;

/// The raw page of a volume.
pub(crate) const FORM: Form = Form::bytes("ebs-page", "EBS statistics page", resembles, read);

/// The bytes are no statistics of an EBS volume.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEbsPage {
    /// Fewer bytes than a page.
    #[error("{bytes} bytes, while the statistics of an EBS volume have {EBS_PAGE_BYTES}")]
    Short {
        /// The number of bytes.
        bytes: usize,
    },
    /// Another magic number: another device.
    #[error("its magic number is {magic:#010x}, and that of EBS volumes is {EBS_MAGIC:#010x}")]
    Magic { magic: u32 },
}

impl EbsStatistics {
    /// Decodes a page.
    ///
    /// # Errors
    /// The page is too short, or is that of another device.
    pub fn of_page(page: &[u8]) -> Result<Self, NotEbsPage> {
        let page = page.get(..EBS_PAGE_BYTES).ok_or(NotEbsPage::Short { bytes: page.len() })?;
        let word = |at: usize| u64::from_le_bytes(bytes_at(page, at));
        let magic = u32::from_le_bytes(bytes_at(page, 0));
        if ![EBS_MAGIC, INSTANCE_STORE_MAGIC].contains(&magic) {
            return Err(NotEbsPage::Magic { magic });
        }
        let mut statistics = Self::default();
        for (index, counter) in statistics.counters.iter_mut().enumerate() {
            *counter = Some(word(COUNTERS_AT + 8 * index));
        }
        statistics.queue_length = Some(word(COUNTERS_AT + 8 * COUNTER_COUNT));
        for index in 0..HISTOGRAMS.len() {
            let at = HISTOGRAMS_AT + index * HISTOGRAM_BYTES;
            let bins = usize::try_from(word(at)).unwrap_or(MAX_BINS).min(MAX_BINS);
            statistics.histograms[index] = (0..bins)
                .map(|bin| {
                    let at = at + 8 + bin * BIN_BYTES;
                    let count = u32::from_le_bytes(bytes_at(page, at + 16));
                    (LatencyBin { lower_us: word(at), upper_us: word(at + 8) }, u64::from(count))
                })
                .collect();
        }
        Ok(statistics)
    }

    /// The page of these statistics. Absent counters are zero in it, and counts of bins wrap at 32 bits as those of EBS.
    pub fn to_page(&self) -> Vec<u8> {
        let mut page = vec![0; EBS_PAGE_BYTES];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &EBS_MAGIC.to_le_bytes());
        let counters = self.counters.iter().chain([&self.queue_length]);
        for (index, value) in counters.enumerate() {
            put(COUNTERS_AT + 8 * index, &value.unwrap_or(0).to_le_bytes());
        }
        for (index, bins) in self.histograms.iter().enumerate() {
            let (at, bins) = (HISTOGRAMS_AT + index * HISTOGRAM_BYTES, &bins[..bins.len().min(MAX_BINS)]);
            put(at, &(bins.len() as u64).to_le_bytes());
            for (bin, (edges, count)) in bins.iter().enumerate() {
                let at = at + 8 + bin * BIN_BYTES;
                put(at, &edges.lower_us.to_le_bytes());
                put(at + 8, &edges.upper_us.to_le_bytes());
                put(at + 16, &(*count as u32).to_le_bytes());
            }
        }
        page
    }
}

/// Bytes of a page, of which every field is a part.
fn bytes_at<const N: usize>(page: &[u8], at: usize) -> [u8; N] {
    page.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).expect("the field is inside the page")
}

fn resembles(head: &Head<'_>) -> Resemblance {
    let magics = [EBS_MAGIC, INSTANCE_STORE_MAGIC].map(u32::to_le_bytes);
    let is = head.raw().first_chunk::<4>().is_some_and(|first| magics.contains(first));
    Resemblance::is(8, is && head.raw().len() >= EBS_PAGE_BYTES).or_near(3, is, "a complete page of 4096 bytes")
}

fn read(input: &FormatInput, pages: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let (mut pace, mut samples) = (SampleInterval::new(input), 0);
    for page in pages.chunks(EBS_PAGE_BYTES) {
        match EbsStatistics::of_page(page) {
            Ok(statistics) => super::put(&statistics, ReadingScope::default(), pace.next(), 0, out),
            Err(error) => {
                out.caution(None, Doubt::PageSkipped { number: samples + 1, error: error.to_string() });
                out.part("page", Fate::Broken);
            }
        }
        samples += 1;
    }
    out.part("pages", Fate::Read(samples));
    out.require(samples < 2 || input.interval.is_some(), Doubt::UntimedSamples { items: label!("pages") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page built field by field from the offsets of nvme-cli's `struct amzn_latency_log_page_base`.
    pub(crate) fn page(counters: [u64; 11], reads: &[(u64, u64, u32)]) -> Vec<u8> {
        let mut page = vec![0; EBS_PAGE_BYTES];
        page[0..4].copy_from_slice(&[0x10, 0xB5, 0x23, 0x3C]);
        for (index, value) in counters.into_iter().enumerate() {
            page[8 + 8 * index..16 + 8 * index].copy_from_slice(&value.to_le_bytes());
        }
        page[512..520].copy_from_slice(&(reads.len() as u64).to_le_bytes());
        for (index, (lower, upper, count)) in reads.iter().enumerate() {
            let at = 520 + 24 * index;
            page[at..at + 8].copy_from_slice(&lower.to_le_bytes());
            page[at + 8..at + 16].copy_from_slice(&upper.to_le_bytes());
            page[at + 16..at + 20].copy_from_slice(&count.to_le_bytes());
        }
        page[2_056..2_064].copy_from_slice(&1_u64.to_le_bytes());
        page[2_064..2_072].copy_from_slice(&256_u64.to_le_bytes());
        page[2_072..2_080].copy_from_slice(&512_u64.to_le_bytes());
        page[2_080..2_084].copy_from_slice(&9_u32.to_le_bytes());
        page
    }

    #[test]
    fn a_page_is_decoded_by_its_published_offsets() {
        let counters = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        let bytes = page(counters, &[(256, 512, 620), (512, 1_024, u32::MAX)]);
        let decoded = EbsStatistics::of_page(&bytes).unwrap();
        let json = serde_json::json!({
            "total_read_ops": 1, "total_write_ops": 2, "total_read_bytes": 3, "total_write_bytes": 4,
            "total_read_time": 5, "total_write_time": 6,
            "ebs_volume_performance_exceeded_iops": 7, "ebs_volume_performance_exceeded_tp": 8,
            "ec2_instance_performance_exceeded_iops": 9, "ec2_instance_performance_exceeded_tp": 10,
            "volume_queue_length": 11,
            "read_io_latency_histogram": {"num_bins": 2, "bins": [
                {"lower": 256, "upper": 512, "count": 620}, {"lower": 512, "upper": 1024, "count": 4_294_967_295_u64}]},
            "write_io_latency_histogram": {"num_bins": 1, "bins": [{"lower": 256, "upper": 512, "count": 9}]},
        });
        assert_eq!(serde_json::Value::Object(decoded.to_json()), json);
        assert_eq!(EbsStatistics::of_json(json.as_object().unwrap()), decoded);
        assert_eq!(EbsStatistics::of_page(&bytes[..4_095]), Err(NotEbsPage::Short { bytes: 4_095 }));
        assert_eq!(EbsStatistics::of_page(&[0; EBS_PAGE_BYTES]), Err(NotEbsPage::Magic { magic: 0 }));
        assert_eq!(decoded.to_page(), bytes);
        let mut huge = bytes;
        huge[512..520].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(EbsStatistics::of_page(&huge).unwrap().histograms[0].len(), MAX_BINS);
    }
}
