//! Commands of the logical unit (SPC-4, SBC-3): from a CDB to the data, the request or the parameters that it needs.

use plimsoll_volume::{Command, Request, Space, VolumeAccess};

use super::identity::{COMPARE_BLOCKS_MAX, TRANSFER_MAX, UNMAP_RANGES_MAX, Unit};
use super::opcodes::{self, action, op};
use super::sense::{SENSE_BYTES, Sense};
use crate::codec::Combination;

/// Bytes of the parameters of a command at most, which the codec holds.
pub(super) const PARAMETERS_MAX: u32 = 512 << 10;

/// Bytes of a descriptor of UNMAP, and of the header before the descriptors.
const UNMAP_DESCRIPTOR: usize = 16;
const UNMAP_HEADER: usize = 8;

/// The consequence of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CdbPlan {
    /// Returns data, at most as many bytes as the initiator allocates.
    Return {
        data: Vec<u8>,
        allocated: u32,
    },
    Done,
    /// Reads the bytes of a request.
    Read(Request),
    /// Writes the bytes of a request, which the initiator sends.
    Write(Request),
    /// Moves no data between initiator and volume.
    Internal(Request),
    /// Returns allocated ranges and holes.
    Extents {
        offset: u64,
        length: u64,
        allocated: u32,
    },
    /// Needs parameters or data of the initiator, all of them, before it can begin.
    Gather {
        bytes: u32,
        then: Gathered,
    },
    ReserveIn {
        action: u8,
        allocated: u32,
    },
    /// REPORT TARGET PORT GROUPS, with the extended header if that was selected.
    PortGroups {
        extended: bool,
        allocated: u32,
    },
    /// RESERVE(6).
    Reserve,
    /// RELEASE(6).
    Release,
    Sense {
        allocated: u32,
    },
}

/// The use of gathered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathered {
    Unmap,
    /// The pattern of WRITE SAME.
    Same {
        request: Request,
        unmap: bool,
        /// The blocks are deallocated whatever the pattern.
        any_pattern: bool,
    },
    /// Data that are combined with those of the volume.
    Combine {
        combination: Combination,
        request: Request,
    },
    ReserveOut {
        action: u8,
        scope_type: u8,
    },
}

type Cdb = [u8; 16];

/// Whether blocks of a range are counted, or the command is done with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Bounded(u64),
    Unbounded,
}

impl Unit {
    /// The consequence of a known command.
    pub(super) fn plan(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        match cdb[0] {
            op::READ_6 | op::READ_10 | op::READ_12 | op::READ_16 => self.read(cdb),
            op::WRITE_6 | op::WRITE_10 | op::WRITE_12 | op::WRITE_16 => {
                self.write(cdb, cdb[0] != op::WRITE_6 && cdb[1] & 0x08 != 0)
            }
            op::WRITE_AND_VERIFY_10 | op::WRITE_AND_VERIFY_12 | op::WRITE_AND_VERIFY_16 => self.write_and_verify(cdb),
            op::SYNCHRONIZE_CACHE_10 | op::SYNCHRONIZE_CACHE_16 => {
                self.range(cdb, Count::Unbounded)?;
                Ok(CdbPlan::Internal(build_request(Command::Flush, (0, 0), false)))
            }
            op::PRE_FETCH_10 | op::PRE_FETCH_16 => {
                let range = self.range(cdb, Count::Unbounded)?;
                Ok(internal(Command::Cache, range))
            }
            op::VERIFY_10 | op::VERIFY_12 | op::VERIFY_16 => self.verify(cdb),
            op::UNMAP => self.unmap(cdb),
            op::WRITE_SAME_10 | op::WRITE_SAME_16 => self.write_same(cdb),
            op::COMPARE_AND_WRITE => self.compare_and_write(cdb),
            op::ORWRITE => self.or_write(cdb),
            op::INQUIRY => Ok(CdbPlan::Return { data: self.inquiry(cdb)?, allocated: u16_at(cdb, 3) }),
            op::MODE_SENSE_6 => Ok(CdbPlan::Return { data: self.modes(cdb, false)?, allocated: cdb[4].into() }),
            op::MODE_SENSE_10 => Ok(CdbPlan::Return { data: self.modes(cdb, true)?, allocated: u16_at(cdb, 7) }),
            op::READ_CAPACITY_10 => {
                let stray = cdb[8] & 1 == 0 && cdb[2..6] != [0; 4];
                if stray {
                    Err(Sense::INVALID_FIELD)
                } else {
                    Ok(CdbPlan::Return { data: self.capacity_10(), allocated: 8 })
                }
            }
            op::SERVICE_ACTION_IN_16 if cdb[1] & 0x1f == action::GET_LBA_STATUS => self.status(cdb),
            op::SERVICE_ACTION_IN_16 => Ok(CdbPlan::Return { data: self.capacity_16(), allocated: u32_at(cdb, 10) }),
            op::MAINTENANCE_IN => self.maintenance(cdb),
            op::REPORT_LUNS => report_luns(cdb),
            op::REQUEST_SENSE if cdb[1] & 1 != 0 => Err(Sense::INVALID_FIELD),
            op::REQUEST_SENSE => Ok(CdbPlan::Sense { allocated: cdb[4].into() }),
            op::START_STOP_UNIT => start_stop(cdb),
            op::PERSISTENT_RESERVE_IN => Ok(CdbPlan::ReserveIn { action: cdb[1] & 0x1f, allocated: u16_at(cdb, 7) }),
            op::PERSISTENT_RESERVE_OUT => {
                let then = Gathered::ReserveOut { action: cdb[1] & 0x1f, scope_type: cdb[2] };
                Ok(gather(u32_at(cdb, 5), then))
            }
            op::RESERVE_6 => Ok(CdbPlan::Reserve),
            op::RELEASE_6 => Ok(CdbPlan::Release),
            op::TEST_UNIT_READY => Ok(CdbPlan::Done),
            _ => Err(Sense::INVALID_COMMAND),
        }
    }

    fn read(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        let fua = cdb[0] != op::READ_6 && cdb[1] & 0x08 != 0;
        if cdb[0] != op::READ_6 {
            unprotected(cdb)?;
        }
        let range = self.range(cdb, Count::Bounded(TRANSFER_MAX))?;
        Ok(if range.1 == 0 { CdbPlan::Done } else { CdbPlan::Read(build_request(Command::Read, range, fua)) })
    }

    fn write(&self, cdb: &Cdb, fua: bool) -> Result<CdbPlan, Sense> {
        if cdb[0] != op::WRITE_6 {
            unprotected(cdb)?;
        }
        let range = self.range(cdb, Count::Bounded(TRANSFER_MAX))?;
        self.writable()?;
        Ok(if range.1 == 0 { CdbPlan::Done } else { CdbPlan::Write(build_request(Command::Write, range, fua)) })
    }

    /// The written data are durable when the command is done, which is all that a verification could show.
    fn write_and_verify(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        if cdb[1] & 0x06 == 0x04 {
            return Err(Sense::INVALID_FIELD);
        }
        self.write(cdb, true)
    }

    fn verify(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        unprotected(cdb)?;
        let (limit, check) = match cdb[1] >> 1 & 3 {
            0 => (Count::Unbounded, None),
            1 => (Count::Bounded(PARAMETERS_MAX.into()), Some(Combination::Compare)),
            3 => (Count::Bounded(PARAMETERS_MAX.into()), Some(Combination::CompareRepeated)),
            _ => return Err(Sense::INVALID_FIELD),
        };
        let range = self.range(cdb, limit)?;
        let Some(combination) = check.filter(|_| range.1 > 0) else { return Ok(internal(Command::Cache, range)) };
        let bytes = if combination == Combination::Compare { range.1 as u32 } else { self.block };
        Ok(gather(bytes, Gathered::Combine { combination, request: build_request(Command::Read, range, false) }))
    }

    fn unmap(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        if cdb[1] & 1 != 0 {
            return Err(Sense::INVALID_FIELD);
        }
        self.writable()?;
        Ok(gather(u16_at(cdb, 7), Gathered::Unmap))
    }

    fn write_same(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        unprotected(cdb)?;
        let (unmap, anchor) = (cdb[1] & 0x08 != 0, cdb[1] & 0x10 != 0);
        let without_data = cdb[0] == op::WRITE_SAME_16 && cdb[1] & 1 != 0;
        if anchor {
            return Err(Sense::INVALID_FIELD);
        }
        let (offset, length) = self.range(cdb, Count::Unbounded)?;
        self.writable()?;
        // Zero blocks are all those from the first one to the end.
        let to_end = length == 0;
        let length = if to_end { self.blocks() * u64::from(self.block) - offset } else { length };
        let request = build_request(Command::Write, (offset, length), false);
        if without_data {
            return Ok(CdbPlan::Internal(Request { command: zeroes(unmap), ..request }));
        }
        // Without a count UNMAP deallocates, as Linux's targets do; with one a pattern other than zeros is written (SBC-3).
        Ok(gather(self.block, Gathered::Same { request, unmap, any_pattern: unmap && to_end }))
    }

    fn compare_and_write(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        unprotected(cdb)?;
        let limit = u64::from(COMPARE_BLOCKS_MAX) * u64::from(self.block);
        let range = self.range(cdb, Count::Bounded(limit.min(u64::from(PARAMETERS_MAX) / 2)))?;
        self.writable()?;
        let request = build_request(Command::Write, range, cdb[1] & 0x08 != 0);
        Ok(gather(2 * range.1 as u32, Gathered::Combine { combination: Combination::CompareAndWrite, request }))
    }

    fn or_write(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        unprotected(cdb)?;
        let range = self.range(cdb, Count::Bounded(PARAMETERS_MAX.into()))?;
        self.writable()?;
        let request = build_request(Command::Write, range, cdb[1] & 0x08 != 0);
        Ok(gather(range.1 as u32, Gathered::Combine { combination: Combination::Or, request }))
    }

    fn status(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        let (block, _) = address(cdb);
        if block >= self.blocks() {
            return Err(Sense::OUT_OF_RANGE);
        }
        let offset = block * u64::from(self.block);
        let length = self.blocks() * u64::from(self.block) - offset;
        Ok(CdbPlan::Extents { offset, length, allocated: u32_at(cdb, 10) })
    }

    fn maintenance(&self, cdb: &Cdb) -> Result<CdbPlan, Sense> {
        let allocated = u32_at(cdb, 6);
        let data = match cdb[1] & 0x1f {
            action::REPORT_PORT_GROUPS => {
                return match cdb[1] >> 5 {
                    format @ (0 | 1) => Ok(CdbPlan::PortGroups { extended: format == 1, allocated }),
                    _ => Err(Sense::INVALID_FIELD),
                };
            }
            action::REPORT_TASK_FUNCTIONS => {
                // Abort task, abort task set, clear task set, logical unit reset; target reset.
                let mut data = vec![0; if cdb[2] & 0x80 == 0 { 4 } else { 16 }];
                (data[0], data[3]) = (0xda, data.len() as u8 - 4);
                data
            }
            _ => {
                let paths = self.identity.paths;
                let report =
                    opcodes::OpcodeReport { options: cdb[2] & 7, opcode: cdb[3], action: u16_at(cdb, 4) as u16 };
                report.data(cdb[2] & 0x80 != 0, paths).ok_or(Sense::INVALID_FIELD)?
            }
        };
        Ok(CdbPlan::Return { data, allocated })
    }

    fn writable(&self) -> Result<(), Sense> {
        if self.access == VolumeAccess::ReadOnly { Err(Sense::WRITE_PROTECTED) } else { Ok(()) }
    }

    /// First byte and length of the addressed blocks.
    fn range(&self, cdb: &Cdb, limit: Count) -> Result<(u64, u64), Sense> {
        let (first, count) = address(cdb);
        let end = first.checked_add(count).ok_or(Sense::OUT_OF_RANGE)?;
        if end > self.blocks() || first >= self.blocks() {
            return Err(Sense::OUT_OF_RANGE);
        }
        let (offset, length) = (first * u64::from(self.block), count * u64::from(self.block));
        match limit {
            Count::Bounded(bytes) if length > bytes => Err(Sense::INVALID_FIELD),
            _ => Ok((offset, length)),
        }
    }

    /// The ranges of UNMAP, in bytes.
    pub(super) fn ranges(&self, parameters: &[u8]) -> Result<Vec<Request>, Sense> {
        if parameters.len() < UNMAP_HEADER {
            return if parameters.is_empty() { Ok(Vec::new()) } else { Err(Sense::PARAMETER_LENGTH) };
        }
        let announced = usize::from(u16::from_be_bytes([parameters[2], parameters[3]]));
        let descriptors = &parameters[UNMAP_HEADER..];
        let descriptors = &descriptors[..announced.min(descriptors.len()) / UNMAP_DESCRIPTOR * UNMAP_DESCRIPTOR];
        if descriptors.len() / UNMAP_DESCRIPTOR > UNMAP_RANGES_MAX {
            return Err(Sense::INVALID_PARAMETER);
        }
        let mut requests = Vec::new();
        for descriptor in descriptors.chunks_exact(UNMAP_DESCRIPTOR) {
            let mut cdb = [0; 16];
            cdb[0] = op::WRITE_16;
            cdb[2..14].copy_from_slice(&descriptor[..12]);
            if descriptor[8..12] != [0; 4] {
                requests.push(build_request(zeroes(true), self.range(&cdb, Count::Unbounded)?, false));
            }
        }
        Ok(requests)
    }
}

const fn zeroes(unmap: bool) -> Command {
    Command::WriteZeroes { space: if unmap { Space::Free } else { Space::Keep } }
}

/// The request of WRITE SAME that writes zeros.
pub(super) const fn same_zeroes(request: Request, unmap: bool) -> Request {
    Request { command: zeroes(unmap), ..request }
}

const fn build_request(command: Command, (offset, length): (u64, u64), fua: bool) -> Request {
    Request { command, offset, length, fua }
}

fn internal(command: Command, range: (u64, u64)) -> CdbPlan {
    if range.1 == 0 { CdbPlan::Done } else { CdbPlan::Internal(build_request(command, range, false)) }
}

/// A command without parameters is valid as well.
const fn gather(bytes: u32, then: Gathered) -> CdbPlan {
    CdbPlan::Gather { bytes, then }
}

/// Protection information is not supported.
const fn unprotected(cdb: &Cdb) -> Result<(), Sense> {
    if cdb[1] >> 5 == 0 { Ok(()) } else { Err(Sense::INVALID_FIELD) }
}

fn u16_at(cdb: &Cdb, at: usize) -> u32 {
    u16::from_be_bytes([cdb[at], cdb[at + 1]]).into()
}

fn u32_at(cdb: &Cdb, at: usize) -> u32 {
    u32::from_be_bytes([cdb[at], cdb[at + 1], cdb[at + 2], cdb[at + 3]])
}

/// First block and number of blocks, by the format of the CDB.
fn address(cdb: &Cdb) -> (u64, u64) {
    match cdb[0] {
        op::READ_6 | op::WRITE_6 => {
            let first = u32::from_be_bytes([0, cdb[1] & 0x1f, cdb[2], cdb[3]]);
            (first.into(), if cdb[4] == 0 { 256 } else { cdb[4].into() })
        }
        code => match code >> 5 {
            1 | 2 => (u32_at(cdb, 2).into(), u16_at(cdb, 7).into()),
            5 => (u32_at(cdb, 2).into(), u32_at(cdb, 6).into()),
            _ => {
                let first = u64::from(u32_at(cdb, 2)) << 32 | u64::from(u32_at(cdb, 6));
                let count = if code == op::COMPARE_AND_WRITE { cdb[13].into() } else { u32_at(cdb, 10).into() };
                (first, count)
            }
        },
    }
}

/// There is unit 0, and no well-known one.
fn report_luns(cdb: &Cdb) -> Result<CdbPlan, Sense> {
    let allocated = u32_at(cdb, 6);
    let units = match cdb[2] {
        0 | 2 => 1,
        1 => 0,
        _ => return Err(Sense::INVALID_FIELD),
    };
    if allocated < 16 {
        return Err(Sense::INVALID_FIELD);
    }
    let mut data = vec![0; 8 + 8 * units];
    data[3] = 8 * units as u8;
    Ok(CdbPlan::Return { data, allocated })
}

/// The medium is not removable, and the unit is always ready. Stopping it makes written data durable.
fn start_stop(cdb: &Cdb) -> Result<CdbPlan, Sense> {
    let (power, no_flush, eject, start) = (cdb[4] >> 4, cdb[4] & 4 != 0, cdb[4] & 2 != 0, cdb[4] & 1 != 0);
    if eject && power == 0 {
        return Err(Sense::INVALID_FIELD);
    }
    if start || no_flush || power != 0 {
        return Ok(CdbPlan::Done);
    }
    Ok(CdbPlan::Internal(build_request(Command::Flush, (0, 0), false)))
}

/// The data of GET LBA STATUS for ranges of blocks and whether each is allocated.
pub(super) fn block_status(first: u64, extents: impl Iterator<Item = (u64, bool)>, allocated: u32) -> Vec<u8> {
    let max = (allocated.saturating_sub(8) as usize / 16).max(1);
    let mut data = vec![0; 8];
    let mut at = first;
    for (blocks, is_allocated) in extents.take(max) {
        let count = u32::try_from(blocks).unwrap_or(u32::MAX);
        data.extend_from_slice(&at.to_be_bytes());
        data.extend_from_slice(&count.to_be_bytes());
        data.extend_from_slice(&[u8::from(!is_allocated), 0, 0, 0]);
        at += blocks;
        if u64::from(count) < blocks {
            break;
        }
    }
    let length = data.len() as u32 - 4;
    data[..4].copy_from_slice(&length.to_be_bytes());
    data
}

pub(super) fn sense_data(sense: Option<Sense>) -> [u8; SENSE_BYTES] {
    sense.unwrap_or(Sense::NONE).bytes(None)
}

#[cfg(test)]
mod tests {
    use plimsoll_volume::Export;

    use super::*;
    use crate::iscsi::target::{Portal, TargetSettings};
    use crate::offer::Offer;

    fn unit(access: VolumeAccess) -> Unit {
        Unit::new(
            &Offer { access, ..Offer::new(Export(0), "", 1 << 30) },
            &TargetSettings::default(),
            Portal::default(),
        )
    }

    fn check(bytes: &[u8], expected: &Result<CdbPlan, Sense>) {
        let mut cdb = [0; 16];
        cdb[..bytes.len()].copy_from_slice(bytes);
        assert_eq!(unit(VolumeAccess::ReadWrite).plan(&cdb), *expected, "{bytes:x?}");
    }

    fn read(offset: u64, length: u64) -> CdbPlan {
        CdbPlan::Read(build_request(Command::Read, (offset, length), false))
    }

    #[test]
    fn addresses_have_four_formats() {
        check(&[op::READ_6, 0, 0, 2, 3], &Ok(read(1024, 1536)));
        check(&[op::READ_6, 0, 0, 0, 0], &Ok(read(0, 256 * 512)));
        check(&[op::READ_10, 0, 0, 0, 0, 2, 0, 0, 3], &Ok(read(1024, 1536)));
        check(&[op::READ_12, 0, 0, 0, 0, 2, 0, 0, 0, 3], &Ok(read(1024, 1536)));
        check(&[op::READ_16, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3], &Ok(read(1024, 1536)));
        check(
            &[op::WRITE_10, 8, 0, 0, 0, 2, 0, 0, 3],
            &Ok(CdbPlan::Write(build_request(Command::Write, (1024, 1536), true))),
        );
    }

    #[test]
    fn ranges_outside_of_the_unit_are_refused() {
        let last = ((1_u32 << 30) / 512 - 1).to_be_bytes();
        let at = |count: u8| [op::READ_10, 0, last[0], last[1], last[2], last[3], 0, 0, count];
        check(&at(1), &Ok(read((1 << 30) - 512, 512)));
        check(&at(2), &Err(Sense::OUT_OF_RANGE));
        check(&[op::READ_16, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 2], &Err(Sense::OUT_OF_RANGE));
        check(&[op::READ_10, 0, 0x80, 0, 0, 0, 0, 0, 0], &Err(Sense::OUT_OF_RANGE));
        check(&[op::READ_10, 0, 0, 0, 0, 0, 0, 0, 0], &Ok(CdbPlan::Done));
        check(&[op::READ_10, 0x20, 0, 0, 0, 0, 0, 0, 1], &Err(Sense::INVALID_FIELD));
        check(&[op::READ_16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0], &Ok(read(0, TRANSFER_MAX)));
        check(&[op::READ_16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1], &Err(Sense::INVALID_FIELD));
    }

    #[test]
    fn write_same_of_zero_blocks_reaches_the_end_of_the_unit() {
        let same = |offset: u64, unmap: bool| {
            let request = build_request(Command::Write, (offset, (1 << 30) - offset), false);
            gather(512, Gathered::Same { request, unmap, any_pattern: unmap })
        };
        check(&[op::WRITE_SAME_10, 0, 0, 0, 0, 2, 0, 0, 0], &Ok(same(1024, false)));
        check(&[op::WRITE_SAME_10, 8, 0, 0, 0, 2, 0, 0, 0], &Ok(same(1024, true)));
        check(&[op::WRITE_SAME_10, 0, 0x80, 0, 0, 0, 0, 0, 0], &Err(Sense::OUT_OF_RANGE));
    }

    #[test]
    fn read_only_units_refuse_changes() {
        for code in [op::WRITE_6, op::WRITE_10, op::WRITE_16, op::ORWRITE, op::UNMAP, op::WRITE_SAME_16] {
            let mut cdb = [0; 16];
            cdb[0] = code;
            cdb[if code >> 5 == 4 { 13 } else { 8 }] = 1;
            assert_eq!(unit(VolumeAccess::ReadOnly).plan(&cdb), Err(Sense::WRITE_PROTECTED), "{code:#x}");
        }
    }

    #[test]
    fn unmap_has_ranges_of_blocks() {
        let unit = unit(VolumeAccess::ReadWrite);
        let mut parameters = vec![0; 8 + 3 * 16];
        (parameters[1], parameters[3]) = (54, 48);
        (parameters[15], parameters[19]) = (4, 2);
        (parameters[31], parameters[35]) = (8, 0);
        (parameters[47], parameters[51]) = (9, 1);
        let free = Command::WriteZeroes { space: Space::Free };
        let expected = [build_request(free, (2048, 1024), false), build_request(free, (4608, 512), false)];
        assert_eq!(unit.ranges(&parameters), Ok(expected.to_vec()));
        parameters[8] = 1;
        assert_eq!(unit.ranges(&parameters), Err(Sense::OUT_OF_RANGE));
        assert_eq!(unit.ranges(&parameters[..7]), Err(Sense::PARAMETER_LENGTH));
        assert_eq!(unit.ranges(&[]), Ok(Vec::new()));
    }

    #[test]
    fn status_of_blocks_is_a_list_of_ranges() {
        let data = block_status(2, [(3, true), (5, false), (1, true)].into_iter(), 40);
        assert_eq!(data.len(), 8 + 2 * 16);
        assert_eq!((data[3], data[15], data[19], data[20], data[31], data[36]), (36, 2, 3, 0, 5, 1));
    }
}
