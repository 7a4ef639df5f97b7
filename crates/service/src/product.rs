//! Product of a volume: its configuration text, resolved against the catalogue.

use std::path::Path;

use plimsoll_catalogue::{
    Catalogue, Chosen, Config, ConfigRefusal as NotOffered, Like, Offer, OptionValue, PriceTerms, ProductKind, Setting,
};
use plimsoll_front::Medium;
use plimsoll_language::{label, say};
use plimsoll_model::{ChainSpec, StageSpec};

use crate::moment;
use crate::refusal::{Refusal, display};

/// Maximum length of a configuration.
const LIKE_BYTES: usize = 4_096;

/// A product of the catalogue, or bare stages.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    /// Configuration text, in a form that can be parsed again.
    pub like: String,
    /// Timing model.
    pub model: ChainSpec,
    /// Offer of the catalogue; `None` for bare stages.
    pub offer: Option<Box<Offer>>,
    /// Reason why the catalogue no longer has the product; the model is then the stored model.
    pub lost: Option<String>,
}

impl Product {
    /// Parses a configuration or stages. `size` is the required capacity, if known: a configuration without a size gets
    /// the smallest sufficient size.
    pub fn read(text: &str, catalogue: &Catalogue, size: Option<u64>) -> Result<Self, Refusal> {
        if text.len() > LIKE_BYTES {
            return Err(Refusal::bad(say!("the configuration is limited to {LIKE_BYTES} bytes")));
        }
        match text.parse::<Like>().map_err(|error| Refusal::bad(error.to_string()))? {
            Like::Stages(model) => Ok(Self { like: model.to_string(), model, offer: None, lost: None }),
            Like::Config(config) => Self::configured(&config, catalogue, size),
        }
    }

    /// Restores a product from its metadata, with the stored model if the catalogue no longer has it.
    pub fn restore(like: &str, notation: &str, catalogue: &Catalogue) -> Result<Self, String> {
        Self::read(like, catalogue, None).or_else(|why| {
            let model = plimsoll_model::parse(notation).map_err(|error| error.to_string())?;
            let lost = Some(say!("its stored model is used, without levels and price: {why}"));
            Ok(Self { like: like.to_owned(), model, offer: None, lost })
        })
    }

    pub fn configured(config: &Config, catalogue: &Catalogue, size: Option<u64>) -> Result<Self, Refusal> {
        let offer = fitted(config, catalogue, size)?;
        if offer.product().kind() == ProductKind::Machine {
            let name = offer.product().name();
            return Err(Refusal::bad(say!("{config} is a machine of {name} and keeps no bytes: make a group of it")));
        }
        let model = offer.model().map_err(|why| Refusal::bad(why.to_string()))?;
        Ok(Self { like: offer.short().to_string(), model, offer: Some(Box::new(offer)), lost: None })
    }

    /// This product with other settings, or another product.
    pub fn changed(&self, to: &str, catalogue: &Catalogue, size: u64) -> Result<Self, Refusal> {
        let to = to.trim();
        let settings = self.offer.as_ref().zip(self.settings(to, catalogue));
        match settings {
            Some((offer, settings)) => Self::configured(&offer.with(&settings), catalogue, None),
            None if to.parse::<f64>().is_ok() => {
                Err(Refusal::bad(say!("{} has no levels: name a configuration instead of {to}", self.like)))
            }
            None => Self::read(to, catalogue, Some(size)),
        }
    }

    /// This product at another level.
    pub fn at_level(&self, level: u32, catalogue: &Catalogue) -> Result<Self, Refusal> {
        let none = || Refusal::bad(say!("{} has no levels", self.like));
        let (offer, option) = self.offer.as_ref().zip(self.level_option()).ok_or_else(none)?;
        let setting = Setting::Option { name: option.name.to_string(), value: level.to_string() };
        Self::configured(&offer.with(&[setting]), catalogue, None)
    }

    /// A size of this product that holds `bytes`; `None` if the present size suffices or for bare stages.
    pub fn holding(&self, bytes: u64, catalogue: &Catalogue) -> Result<Option<Self>, Refusal> {
        let Some(offer) = self.offer.as_ref().filter(|offer| offer.capacity.get() < bytes) else { return Ok(None) };
        let too_small = || {
            let (holds, requested) = (offer.capacity, display(bytes));
            Refusal::bad(say!(
                "{} holds {holds}, and its largest size is less than {requested}: choose another product",
                self.like
            ))
        };
        let config = offer.holding(bytes).ok_or_else(too_small)?;
        Self::configured(&config, catalogue, None).map(Some)
    }

    /// Parses a text as settings of this product; a bare number is the level. `None` if it is a configuration.
    fn settings(&self, to: &str, catalogue: &Catalogue) -> Option<Vec<Setting>> {
        let offer = self.offer.as_ref()?;
        if to.parse::<f64>().is_ok() {
            let name = self.level_option()?.name.to_string();
            return Some(vec![Setting::Option { name, value: to.to_owned() }]);
        }
        let config: Config = format!("{}:{to}", offer.product().name()).parse().ok()?;
        let is_whole = |setting: &Setting| match setting {
            Setting::Word(word) => catalogue.find(word).is_ok(),
            _ => false,
        };
        let plain = config.wraps.is_empty() && config.machine.is_none();
        let settings = config.volume.settings;
        (plain && !settings.is_empty() && !settings.iter().any(is_whole)).then_some(settings)
    }

    pub fn level_option(&self) -> Option<&Chosen> {
        self.offer.as_ref()?.level_option()
    }

    /// Present level; `None` without levels or if it is not an integer.
    pub fn level(&self) -> Option<u32> {
        match self.level_option()?.value {
            Some(OptionValue::Number(level)) if level >= 0.0 && level.fract() == 0.0 => Some(level as u32),
            _ => None,
        }
    }

    /// Size in bytes of a volume with this product.
    pub fn size(&self, requested: Option<u64>) -> Result<u64, Refusal> {
        match (&self.offer, requested) {
            (Some(offer), None) => Ok(offer.capacity.get()),
            (Some(offer), Some(requested)) if requested > offer.capacity.get() => Err(Refusal::bad(say!(
                "{} holds {}, not {}: give it a larger size, or the volume a smaller one",
                self.like,
                offer.capacity,
                display(requested)
            ))),
            (_, Some(requested)) => Ok(requested),
            (None, None) => {
                Err(Refusal::bad(label!("stages have no size: give one, such as --size 10GiB (Docker: -o size=10GiB)")))
            }
        }
    }

    /// Rotational if any stage is a disk.
    pub fn medium(&self) -> Medium {
        if turns(&self.model) { Medium::Rotational } else { Medium::Solid }
    }

    /// Limitations of the figures.
    pub fn doubts(&self) -> Vec<String> {
        let doubts = self.offer.iter().flat_map(|offer| offer.doubts());
        self.lost.iter().cloned().chain(doubts.map(|doubt| doubt.text)).collect()
    }
}

fn turns(model: &ChainSpec) -> bool {
    let inside = |stage: &StageSpec| stage.insides().into_iter().any(turns);
    model.stages().iter().any(|named| matches!(named.stage, StageSpec::Disk(_)) || inside(&named.stage))
}

/// Refusal of the catalogue, with a remedy for unknown products.
pub(crate) fn refused(refusal: &NotOffered) -> Refusal {
    let is_file = |name: &str| Path::new(name).extension().is_some_and(|end| end == "toml");
    let advice = match refusal {
        NotOffered::UnknownProduct(unknown) if is_file(&unknown.name) => {
            label!("; start the service with --products FOLDER, and name the product that the file describes")
        }
        NotOffered::UnknownProduct(unknown) if unknown.nearest.is_empty() => label!("; plimsoll catalogue lists all"),
        _ => "",
    };
    Refusal::bad(format!("{refusal}{advice}"))
}

/// The smallest offer that holds `size`, for a configuration without a size.
fn fitted(config: &Config, catalogue: &Catalogue, size: Option<u64>) -> Result<Offer, Refusal> {
    let terms = PriceTerms { as_of: moment::utc_date(), currency: None, region: None };
    let offer = catalogue.offer(config, &terms);
    let Some(size) = size.filter(|_| !config.volume.has_size()) else {
        return offer.map_err(|refusal| refused(&refusal));
    };
    match offer {
        Ok(offer) if offer.capacity.get() >= size => Ok(offer),
        Ok(offer) => match offer.holding(size) {
            Some(larger) => catalogue.offer(&larger, &terms).map_err(|refusal| refused(&refusal)),
            None => Ok(offer),
        },
        Err(NotOffered::Missing { option, .. }) if option == "size" => {
            let members: u64 = config.wraps.iter().map(|wrap| u64::from(wrap.data_members())).product();
            let product = catalogue.find(&config.volume.product).map_err(|error| Refusal::bad(error.to_string()))?;
            let each = display(size.div_ceil(members.max(1)));
            let too_large = || Refusal::bad(say!("no size of {config} holds {each}"));
            let number = product.smallest_size(each).ok_or_else(too_large)?.to_string();
            let mut sized = config.clone();
            sized.volume.settings.push(Setting::Size { number, unit: product.capacity_unit().0.to_owned() });
            catalogue.offer(&sized, &terms).map_err(|refusal| refused(&refusal))
        }
        Err(refusal) => Err(refused(&refusal)),
    }
}
