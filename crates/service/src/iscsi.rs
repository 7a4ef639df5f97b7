//! Identities of volumes as iSCSI targets: their names, identifiers and paths.

use plimsoll_catalogue::IscsiFacts;
use plimsoll_front::iscsi::{Admission, Controller, Credentials, InquiryNames, Paths, TargetSettings, UnitIdentity};
use plimsoll_volume::{StoreId, VolumeId};

use crate::api;
use crate::metadata::VolumeMetadata;
use crate::product::Product;

/// Options of the targets of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IscsiOptions {
    /// Beginning of the names of targets; a colon and the name of the volume follow. Products with a prefix of their own
    /// in the catalogue keep that.
    pub prefix: String,
    /// Addresses of the portals for initiators, `HOST:PORT`, in the order of the listening sockets.
    pub portals: Vec<String>,
    /// Commands of one session in flight, for products without a figure of their own.
    pub queue_depth: u32,
    /// Name by which initiators authenticate with CHAP; `None` admits all.
    pub chap_user: Option<String>,
}

impl Default for IscsiOptions {
    fn default() -> Self {
        let TargetSettings { name, queue_depth, .. } = TargetSettings::default();
        Self { prefix: name, portals: Vec::new(), queue_depth, chap_user: None }
    }
}

impl IscsiOptions {
    /// The identity of a volume. It is the same in each run of the service.
    pub(crate) fn unit(
        &self,
        store: StoreId,
        volume: VolumeId,
        metadata: &VolumeMetadata,
        product: &Product,
    ) -> UnitIdentity {
        let uuid = hash_uuid(store, volume, &metadata.created);
        let admission = metadata.initiators.admission();
        let facts = product.offer.as_ref().and_then(|offer| offer.iscsi());
        let Some(IscsiFacts { vendor, model, revision, prefix, paths, queue_depth, controllers, .. }) = facts else {
            let target = format!("{}:{}", self.prefix, name_or_uuid(&metadata.name, uuid));
            let (names, paths) = (InquiryNames::default(), Paths::Equal);
            return UnitIdentity { target, uuid, names, queue_depth: None, paths, portals: None, admission };
        };
        let target = match prefix {
            Some(prefix) => format!("{prefix}:{}", hyphenated(uuid)),
            None => format!("{}:{}", self.prefix, name_or_uuid(&metadata.name, uuid)),
        };
        UnitIdentity {
            target,
            uuid,
            names: InquiryNames { vendor, product: model, revision },
            queue_depth,
            paths: if controllers == 2 { Paths::TwoControllers } else { Paths::Equal },
            portals: paths.map(|paths| paths.try_into().unwrap_or(u16::MAX)),
            admission,
        }
    }

    /// A volume as its initiators reach it.
    pub(crate) fn target(&self, unit: &UnitIdentity, owner: Controller) -> api::IscsiTarget {
        let max = unit.portals.map_or(usize::MAX, usize::from);
        let portals: Vec<String> = self.portals.iter().take(max).cloned().collect();
        let first = usize::from(owner == Controller::B);
        let optimized = match unit.paths {
            Paths::Equal => None,
            Paths::TwoControllers => Some(portals.iter().skip(first).step_by(2).cloned().collect()),
        };
        let chap_user = match &unit.admission {
            Admission::Secret(Credentials { name, .. }) => Some(name.clone()),
            Admission::Settings | Admission::Closed => self.chap_user.clone(),
        };
        // The type of the designator, and its digits.
        let wwid = unit.naa().iter().fold("3".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        api::IscsiTarget {
            iqn: unit.target.clone(),
            portals,
            queue_depth: unit.queue_depth.unwrap_or(self.queue_depth),
            wwid,
            chap_user,
            vendor: unit.names.vendor.clone(),
            product: unit.names.product.clone(),
            optimized,
        }
    }
}

/// A UUID of version 8 (RFC 9562): the 128-bit FNV-1a hash (Fowler, Noll, Vo) of store, volume and time of creation.
fn hash_uuid(store: StoreId, volume: VolumeId, created: &str) -> u128 {
    let volume = volume.0.to_be_bytes();
    let bytes = store.0.iter().chain(&volume).chain(created.as_bytes());
    let hash = bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    let cleared = hash & !(0xf << 76) & !(0x3 << 62);
    cleared | 0x8 << 76 | 0x2 << 62
}

fn hyphenated(uuid: u128) -> String {
    let digits = format!("{uuid:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// The name of a volume if the name of a target can contain it (RFC 7143, 4.2.7.2), otherwise its UUID.
fn name_or_uuid(name: &str, uuid: u128) -> String {
    let fits = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
    if fits { name.to_owned() } else { hyphenated(uuid) }
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::Catalogue;

    use super::*;

    const STORE: StoreId = StoreId([7; 16]);

    fn check(name: &str, like: &str) -> UnitIdentity {
        let product = Product::read(like, &Catalogue::built_in(), None).unwrap();
        let metadata = VolumeMetadata::new(name, like, &product.model.to_string(), "2026-11-23T12:00:00Z".into());
        IscsiOptions::default().unit(STORE, VolumeId(3), &metadata, &product)
    }

    #[test]
    fn identity_is_that_of_the_product() {
        let oci = check("data", "oci:1500GB@120vpu");
        assert_eq!(oci.target, format!("iqn.2015-12.com.oracleiaas:{}", hyphenated(oci.uuid)));
        assert_eq!((&*oci.names.vendor, oci.portals, oci.paths), ("ORACLE", Some(5), Paths::Equal));
        assert_eq!((oci.uuid >> 76 & 0xf, oci.uuid >> 62 & 3), (8, 2), "version and variant");
        let array = check("data", "netapp/aff-a800");
        assert_eq!((&*array.names.vendor, array.portals, array.paths), ("NETAPP", None, Paths::TwoControllers));
        assert_eq!(array.uuid, oci.uuid, "the volume determines it");
        assert_eq!(check("data", "limit(1000)").target, "iqn.2026-01.local.plimsoll:data");
        assert_eq!(
            check("My_Data", "limit(1000)").target,
            format!("iqn.2026-01.local.plimsoll:{}", hyphenated(oci.uuid))
        );
    }

    #[test]
    fn portals_of_the_owner_are_optimized() {
        let portals = ["a:1", "b:1", "c:1", "d:1", "e:1", "f:1"].map(str::to_owned).to_vec();
        let options = IscsiOptions { portals, ..IscsiOptions::default() };
        let array = check("data", "netapp/aff-a800");
        let optimized = |owner| options.target(&array, owner).optimized.unwrap();
        assert_eq!(optimized(Controller::A), ["a:1", "c:1", "e:1"]);
        assert_eq!(optimized(Controller::B), ["b:1", "d:1", "f:1"]);
        let target = options.target(&check("data", "oci:1500GB@120vpu"), Controller::A);
        assert_eq!((target.portals.len(), target.queue_depth, target.optimized), (5, 128, None));
        assert!(target.wwid.starts_with("36000000") && target.wwid.len() == 33, "{}", target.wwid);
        assert_eq!(options.target(&check("data", "oci:50GB@10vpu"), Controller::A).portals, ["a:1"]);
    }
}
