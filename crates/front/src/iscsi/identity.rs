//! The logical unit as INQUIRY, MODE SENSE and READ CAPACITY describe it (SPC-4, SBC-3).

use plimsoll_volume::VolumeAccess;

use super::sense::Sense;
use super::target::{Portal, TargetSettings};
use crate::offer::{Medium, Offer};
use crate::unit::{Admission, Controller, InquiryNames, Paths, UnitIdentity};

/// Blocks of COMPARE AND WRITE at most.
pub(super) const COMPARE_BLOCKS_MAX: u8 = 255;

/// Bytes of commands that move data at most.
pub(super) const TRANSFER_MAX: u64 = 32 << 20;

/// Bytes of a pattern that WRITE SAME writes at most; zeros have no limit.
pub(super) const SAME_MAX: u64 = TRANSFER_MAX;

/// Ranges of one UNMAP at most.
pub(super) const UNMAP_RANGES_MAX: usize = 64;

/// Bytes of a MODE SENSE at most.
const MODE_MAX: usize = 255;

/// The field TPGS of INQUIRY data for implicit asymmetric access.
const IMPLICIT_ALUA: u8 = 0x10;

/// The states of a group of ports: active and optimized, with the bit of the preferred group, and active only.
const PREFERRED: u8 = 0x80;
const NON_OPTIMIZED: u8 = 0x01;

/// The states that groups of ports can have.
const OPTIMIZED_SUPPORTED: u8 = 0x01;
const NON_OPTIMIZED_SUPPORTED: u8 = 0x02;

/// The target changes states by itself.
const IMPLICIT_CHANGE: u8 = 0x02;

impl UnitIdentity {
    /// The identity of a target that has only a name.
    pub(super) fn of_target(target: String, names: InquiryNames) -> Self {
        let low = hash(target.as_bytes());
        let high = hash(&low.to_be_bytes());
        let uuid = u128::from(high) << 64 | u128::from(low);
        let admission = Admission::Settings;
        Self { target, uuid, names, queue_depth: None, paths: Paths::Equal, portals: None, admission }
    }
}

/// A logical unit, as one session sees it.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Bytes of a logical block.
    pub block: u32,
    /// Present size in bytes.
    pub size: u64,
    pub access: VolumeAccess,
    medium: Medium,
    preferred: u32,
    pub identity: UnitIdentity,
    portal: Portal,
}

impl Unit {
    pub(super) fn new(offer: &Offer, settings: &TargetSettings, portal: Portal) -> Self {
        let identity = offer
            .unit
            .as_deref()
            .cloned()
            .unwrap_or_else(|| UnitIdentity::of_target(settings.target_name(offer), settings.names.clone()));
        Self {
            block: offer.blocks.minimum.max(512),
            size: offer.size,
            access: offer.access,
            medium: offer.medium,
            preferred: offer.blocks.preferred,
            identity,
            portal,
        }
    }

    pub(super) const fn blocks(&self) -> u64 {
        self.size / self.block as u64
    }

    /// Standard INQUIRY data, or a page of vital product data.
    pub(super) fn inquiry(&self, cdb: &[u8; 16]) -> Result<Vec<u8>, Sense> {
        match (cdb[1] & 1, cdb[2]) {
            (0, 0) => Ok(self.standard()),
            (0, _) => Err(Sense::INVALID_FIELD),
            (_, page) => {
                let content = self.vital(page).ok_or(Sense::INVALID_FIELD)?;
                Ok([&[0, page], &(content.len() as u16).to_be_bytes()[..], &content].concat())
            }
        }
    }

    fn standard(&self) -> Vec<u8> {
        let mut data = vec![0; 96];
        // SPC-4, hierarchical addressing, fixed format.
        (data[2], data[3]) = (0x06, 0x12);
        data[4] = data.len() as u8 - 5;
        if self.identity.paths == Paths::TwoControllers {
            data[5] = IMPLICIT_ALUA;
        }
        // Several ports, command queueing.
        (data[6], data[7]) = (0x10, 0x02);
        text(&mut data[8..16], &self.identity.names.vendor);
        text(&mut data[16..32], &self.identity.names.product);
        text(&mut data[32..36], &self.identity.names.revision);
        // SAM-5, SPC-4, SBC-3, iSCSI.
        for (place, version) in data[58..66].chunks_mut(2).zip([0x00a0_u16, 0x0460, 0x04c0, 0x0960]) {
            place.copy_from_slice(&version.to_be_bytes());
        }
        data
    }

    fn vital(&self, page: u8) -> Option<Vec<u8>> {
        match page {
            0x00 => Some(vec![0x00, 0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2]),
            0x80 => Some(self.serial().into_bytes()),
            0x83 => Some(self.designators()),
            0x86 => Some(extended()),
            0xb0 => Some(self.limits()),
            0xb1 => Some(self.characteristics()),
            // Thin; UNMAP and both forms of WRITE SAME deallocate, and deallocated blocks read as zeros.
            0xb2 => Some(vec![0, 0xe4, 0x02, 0]),
            _ => None,
        }
    }

    fn serial(&self) -> String {
        format!("{:032x}", self.identity.uuid)
    }

    /// NAA 6 and the vendor's identifier for the unit; name, number and group of the port.
    fn designators(&self) -> Vec<u8> {
        let mut vendor = vec![b' '; 8];
        text(&mut vendor, &self.identity.names.vendor);
        vendor.extend_from_slice(self.serial().as_bytes());
        let group = self.portal.group(self.identity.paths);
        let in_word = |number: u16| u32::from(number).to_be_bytes();
        let port = format!("{},t,0x{group:04x}", self.identity.target);
        let mut data = designator(0x01, 0x03, &self.identity.naa());
        data.extend(designator(0x02, 0x01, &vendor));
        // The protocol of ports is iSCSI.
        data.extend(designator(0x51, 0x94, &in_word(self.portal.number())));
        data.extend(designator(0x51, 0x95, &in_word(group)));
        data.extend(designator(0x53, 0x98, &scsi_name(&port)));
        data
    }

    fn limits(&self) -> Vec<u8> {
        let in_blocks = |bytes: u64| (bytes / u64::from(self.block)) as u32;
        let granularity = in_blocks(self.preferred.into()).max(1);
        let mut data = vec![0; 60];
        // WRITE SAME of zero blocks extends to the end of the unit.
        (data[0], data[1]) = (0, COMPARE_BLOCKS_MAX);
        let words = [
            (4, in_blocks(TRANSFER_MAX)),
            (8, in_blocks(1 << 20)),
            (12, in_blocks(TRANSFER_MAX)),
            (16, u32::MAX),
            (20, UNMAP_RANGES_MAX as u32),
            (24, granularity),
            // Deallocation is aligned to the beginning.
            (28, 0x8000_0000),
        ];
        data[2..4].copy_from_slice(&(granularity as u16).to_be_bytes());
        for (at, word) in words {
            data[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        data[32..40].copy_from_slice(&self.blocks().to_be_bytes());
        data
    }

    fn characteristics(&self) -> Vec<u8> {
        let mut data = vec![0; 60];
        let rotation: u16 = if self.medium == Medium::Rotational { 7200 } else { 1 };
        data[..2].copy_from_slice(&rotation.to_be_bytes());
        data
    }

    /// READ CAPACITY(10). The last block is the highest number where the true one does not fit.
    pub(super) fn capacity_10(&self) -> Vec<u8> {
        let last = u32::try_from(self.blocks().saturating_sub(1)).unwrap_or(u32::MAX);
        [last.to_be_bytes(), self.block.to_be_bytes()].concat()
    }

    /// READ CAPACITY(16).
    pub(super) fn capacity_16(&self) -> Vec<u8> {
        let mut data = vec![0; 32];
        data[..8].copy_from_slice(&self.blocks().saturating_sub(1).to_be_bytes());
        data[8..12].copy_from_slice(&self.block.to_be_bytes());
        data[13] = (self.preferred / self.block).max(1).ilog2() as u8;
        // Logical blocks are managed, and deallocated ones read as zeros.
        data[14] = 0xc0;
        data
    }

    /// MODE SENSE(6) and MODE SENSE(10), before the limit of the allocation length.
    pub(super) fn modes(&self, cdb: &[u8; 16], long: bool) -> Result<Vec<u8>, Sense> {
        let (control, page, subpage) = (cdb[2] >> 6, cdb[2] & 0x3f, cdb[3]);
        if control == 3 {
            return Err(Sense::SAVING_NOT_SUPPORTED);
        }
        if !matches!(subpage, 0 | 0xff) {
            return Err(Sense::INVALID_FIELD);
        }
        // Nothing can be changed: the mask of changeable bits is zero.
        let values = |page: [u8; 2], set: &[(usize, u8)]| {
            let mut bytes = vec![0; usize::from(page[1]) + 2];
            bytes[..2].copy_from_slice(&page);
            for (at, value) in set.iter().filter(|_| control != 1) {
                bytes[*at] = *value;
            }
            bytes
        };
        // Write cache enabled; unrestricted reordering, write protection by software.
        let caching = values([0x08, 0x12], &[(2, 0x04)]);
        let protect = if self.access == VolumeAccess::ReadOnly { 0x08 } else { 0 };
        let control_page = values([0x0a, 0x0a], &[(3, 0x10), (4, protect)]);
        let pages = match page {
            0x08 => caching,
            0x0a => control_page,
            0x3f => [caching, control_page].concat(),
            _ => return Err(Sense::INVALID_FIELD),
        };
        let descriptor = if cdb[1] & 0x08 == 0 { self.block_descriptor() } else { Vec::new() };
        // DPO and FUA are known.
        let specific = 0x10 | if self.access == VolumeAccess::ReadOnly { 0x80 } else { 0 };
        let length = descriptor.len() + pages.len();
        debug_assert!(length + 8 <= MODE_MAX, "the length fits a byte");
        let head = if long {
            vec![0, length as u8 + 6, 0, specific, 0, 0, 0, descriptor.len() as u8]
        } else {
            vec![length as u8 + 3, 0, specific, descriptor.len() as u8]
        };
        Ok([head, descriptor, pages].concat())
    }

    fn block_descriptor(&self) -> Vec<u8> {
        let blocks = u32::try_from(self.blocks()).unwrap_or(u32::MAX);
        [blocks.to_be_bytes(), self.block.to_be_bytes()].concat()
    }
}

/// The data of REPORT TARGET PORT GROUPS (SPC-4, 6.37) for portals from 0 to `ports`, all of which work.
pub(super) fn port_groups(paths: Paths, owner: Controller, ports: u16, extended: bool) -> Vec<u8> {
    let controllers = match paths {
        Paths::Equal => &[Controller::A][..],
        Paths::TwoControllers => &[Controller::A, Controller::B],
    };
    let mut rows = Vec::new();
    for group in controllers.iter().map(|controller| controller.group()) {
        let own: Vec<Portal> = (0..ports).map(Portal::at).filter(|portal| portal.group(paths) == group).collect();
        let is_optimized = paths == Paths::Equal || owner.group() == group;
        let state = if is_optimized { PREFERRED } else { NON_OPTIMIZED };
        rows.extend([state, OPTIMIZED_SUPPORTED | NON_OPTIMIZED_SUPPORTED]);
        rows.extend(group.to_be_bytes());
        rows.extend([0, IMPLICIT_CHANGE, 0, own.len() as u8]);
        rows.extend(own.iter().flat_map(|portal| u32::from(portal.number()).to_be_bytes()));
    }
    // The extended header contains its format and the time of a transition.
    let header: &[u8] = if extended { &[0x10, 0, 0, 0] } else { &[] };
    let length = (header.len() + rows.len()) as u32;
    [&length.to_be_bytes()[..], header, &rows].concat()
}

/// The name of a port or device, ended by zeros, in whole words.
pub(super) fn scsi_name(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.truncate(252);
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes
}

fn designator(code_set: u8, kind: u8, value: &[u8]) -> Vec<u8> {
    [&[code_set, kind, 0, value.len() as u8], value].concat()
}

fn extended() -> Vec<u8> {
    let mut data = vec![0; 60];
    // Simple, ordered and head-of-queue tasks; a volatile cache.
    (data[1], data[2]) = (0x07, 0x01);
    data
}

fn text(place: &mut [u8], text: &str) {
    place.fill(b' ');
    for (byte, letter) in place.iter_mut().zip(text.bytes()) {
        *byte = if letter.is_ascii_graphic() { letter } else { b' ' };
    }
}

/// FNV-1a: the same name has the same identifier in each run (Fowler, Noll and Vo, 1991).
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use plimsoll_volume::Export;

    use super::*;

    fn unit(access: VolumeAccess, size: u64) -> Unit {
        let offer = Offer { access, ..Offer::new(Export(0), "data", size) };
        Unit::new(&offer, &TargetSettings::default(), Portal::default())
    }

    #[test]
    fn every_listed_page_exists() {
        let unit = unit(VolumeAccess::ReadWrite, 1 << 30);
        let mut cdb = [0; 16];
        cdb[1] = 1;
        let pages = unit.inquiry(&cdb).unwrap();
        for page in &pages[4..] {
            cdb[2] = *page;
            let data = unit.inquiry(&cdb).unwrap();
            assert_eq!((data[1], usize::from(data[3])), (*page, data.len() - 4));
        }
        cdb[2] = 0xc0;
        assert_eq!(unit.inquiry(&cdb), Err(Sense::INVALID_FIELD));
        assert_eq!(unit.inquiry(&[0; 16]).unwrap()[8..24], *b"PLIMSOLLVOLUME  ");
    }

    #[test]
    fn unit_of_two_controllers_has_asymmetric_paths() {
        let names = InquiryNames { vendor: "ORACLE".into(), product: "BlockVolume".into(), revision: "1.0".into() };
        let mut identity = UnitIdentity::of_target("iqn.a".into(), names);
        identity.uuid = 0x1234_5678_9abc_def0_1234_5678_9abc_def0;
        let observed = |identity: &UnitIdentity| {
            let offer = Offer { unit: Some(Box::new(identity.clone())), ..Offer::new(Export(0), "data", 1 << 30) };
            Unit::new(&offer, &TargetSettings::default(), Portal::at(1))
        };
        let equal = observed(&identity);
        let mut cdb = [0; 16];
        let data = equal.inquiry(&cdb).unwrap();
        assert_eq!((data[5], &data[8..36]), (0, &b"ORACLE  BlockVolume     1.0 "[..]));
        (cdb[1], cdb[2]) = (1, 0x83);
        let page = equal.inquiry(&cdb).unwrap();
        assert_eq!(
            page[8..24],
            [0x60, 0, 0, 8, 0x9a, 0xbc, 0xde, 0xf0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0]
        );
        // Behind it the identifier with 40 bytes, the number of the port and its group.
        assert_eq!((page[24 + 44 + 7], page[24 + 44 + 15]), (2, 1));
        identity.paths = Paths::TwoControllers;
        let asymmetric = observed(&identity);
        assert_eq!(asymmetric.inquiry(&[0; 16]).unwrap()[5], 0x10);
        assert_eq!(asymmetric.inquiry(&cdb).unwrap()[24 + 44 + 15], 2, "the group of the second controller");
    }

    #[test]
    fn ports_of_the_owner_are_optimized() {
        let check = |owner, extended, expected: &[u8]| {
            assert_eq!(port_groups(Paths::TwoControllers, owner, 3, extended), expected);
        };
        let groups = |first: u8, second: u8| {
            [&[first, 3, 0, 1, 0, 2, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3][..], &[second, 3, 0, 2, 0, 2, 0, 1, 0, 0, 0, 2]]
                .concat()
        };
        check(Controller::A, false, &[&[0, 0, 0, 28][..], &groups(0x80, 1)].concat());
        check(Controller::B, true, &[&[0, 0, 0, 32, 0x10, 0, 0, 0][..], &groups(1, 0x80)].concat());
    }

    #[test]
    fn capacities_are_those_of_whole_blocks() {
        let small = unit(VolumeAccess::ReadWrite, 10_000);
        assert_eq!(small.capacity_10(), [0, 0, 0, 18, 0, 0, 2, 0]);
        let large = unit(VolumeAccess::ReadWrite, 4 << 40);
        assert_eq!(large.capacity_10()[..4], [0xff; 4]);
        assert_eq!(large.capacity_16()[..8], ((4_u64 << 40) / 512 - 1).to_be_bytes());
        assert_eq!(large.capacity_16()[13], 3, "eight logical blocks in a physical one");
    }

    #[test]
    fn modes_show_write_protection_and_no_changeable_bit() {
        let mut cdb = [0; 16];
        cdb[2] = 0x3f;
        let modes = unit(VolumeAccess::ReadOnly, 1 << 30).modes(&cdb, false).unwrap();
        assert_eq!((usize::from(modes[0]), modes[2], modes[3]), (modes.len() - 1, 0x90, 8));
        assert_eq!((modes[12], modes[14], modes[32], modes[36]), (8, 4, 0x0a, 8));
        cdb[2] = 0x7f;
        let changeable = unit(VolumeAccess::ReadOnly, 1 << 30).modes(&cdb, true).unwrap();
        assert!(changeable[18..36].iter().all(|byte| *byte == 0), "{changeable:x?}");
        cdb[2] = 0xff;
        assert_eq!(unit(VolumeAccess::ReadOnly, 1 << 30).modes(&cdb, true), Err(Sense::SAVING_NOT_SUPPORTED));
    }
}
