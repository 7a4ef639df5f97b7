//! Sorting in bounded memory.

use plimsoll_fleet::records::Scratch;

use crate::support::{TestFolder, contents};

#[test]
fn records_are_sorted_with_any_memory() {
    let folder = TestFolder::new("records");
    // Each key several times, in the order of its records.
    let records: Vec<(Vec<u8>, Vec<u8>)> = (0..4_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) % 997, n))
        .map(|(key, n)| (key.to_be_bytes()[(key % 3) as usize..].to_vec(), n.to_le_bytes().repeat(n as usize % 4)))
        .collect();
    let mut expected = records.clone();
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    // The last one has more runs than are open at a time.
    for max_bytes in [1 << 20, 50_000, 1_000] {
        let scratch = Scratch::new(&folder.path(""), max_bytes);
        let mut sorter = scratch.sorter();
        for (key, value) in &records {
            sorter.push(key, value).unwrap();
        }
        let records = sorter.finish().unwrap();
        assert!(contents(&folder.path("")).is_empty());
        let pairs: Vec<_> = records.map(|record| record.map(|record| (record.key, record.value)).unwrap()).collect();
        assert!(pairs == expected, "{max_bytes}");
    }
}
