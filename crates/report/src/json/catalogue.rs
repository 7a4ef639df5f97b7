//! Products of the catalogue. Arithmetic is text, as product files have it; an empty text is no value.

use plimsoll_catalogue::{
    Access, Autotune, Catalogue, Kinds, Latency, LimitView, NamedFigure, Often, OptionValue, OptionView, PartView,
    PriceView, Product, RuleView, Status, Warning,
};
use serde_json::{Map, Value, json};

use super::{number, offer};

pub(super) fn products(catalogue: &Catalogue) -> Value {
    let mut products: Vec<&Product> = catalogue.products().collect();
    products.sort_by_key(|product| product.name());
    json!({ "format": "plimsoll.catalogue/1", "products": products.into_iter().map(summary).collect::<Vec<_>>() })
}

fn summary(product: &Product) -> Value {
    let (unit, bytes) = product.capacity_unit();
    let cites = product.cites();
    let count =
        |status: &Status| (status.name().to_owned(), cites.iter().filter(|cite| cite.status == *status).count().into());
    json!({
        "name": product.name(),
        "title": product.title(),
        "kind": product.kind().name(),
        "about": product.about(),
        "aliases": product.aliases(),
        "capacity_unit": unit,
        "capacity_unit_bytes": bytes.get(),
        "price_lists": product.price_lists(),
        "figures_by_status": Status::ALL.iter().map(count).collect::<Map<_, _>>(),
    })
}

pub(super) fn product(product: &Product) -> Value {
    let (columns, rows) = product.tier_table().unwrap_or_default();
    let model = product.model_view();
    let own = json!({
        "format": "plimsoll.product/1",
        "options": product.options().iter().map(option).collect::<Vec<_>>(),
        "tiers": { "columns": columns, "rows": rows },
        "limits": product.limits().iter().map(limit).collect::<Vec<_>>(),
        "latency": product.latency().iter().map(latency).collect::<Vec<_>>(),
        "rules": product.rules().iter().map(rule).collect::<Vec<_>>(),
        "prices": product.price_views().iter().map(price).collect::<Vec<_>>(),
        "model": model.map(|model| json!({
            "stages": model.stages,
            "doubts": model.doubts,
            "source": offer::source(&model.cite),
        })),
        "figures": product.figures().iter().map(figure).collect::<Vec<_>>(),
        "durability": product.durability().map(offer::durability),
        "sharing": product.sharing_views().iter().map(|sharing| json!({
            "hosts": sharing.hosts,
            "mode": sharing.mode.name(),
            "when": sharing.when,
            "source": offer::source(&sharing.cite),
        })).collect::<Vec<_>>(),
        "deviations": product.deviations().iter().map(|deviation| json!({
            "loads": deviation.loads.iter().map(|load| load.name()).collect::<Vec<_>>(),
            "why": deviation.why,
        })).collect::<Vec<_>>(),
        "autotune": product.autotune().iter().map(autotune).collect::<Vec<_>>(),
        "machines": product.machines().collect::<Vec<_>>(),
        "warnings": product.warnings().iter().map(warning).collect::<Vec<_>>(),
    });
    offer::merged([summary(product), own])
}

fn option(option: &OptionView) -> Value {
    json!({
        "name": &*option.name,
        "low": option.low,
        "high": option.high,
        "step": option.step,
        "default": option.default,
        "choices": option.choices,
        "detached_from": option.detached_from,
        "note": &*option.note,
        "source": offer::source(&option.cite),
    })
}

fn limit(limit: &LimitView) -> Value {
    json!({
        "name": &*limit.name,
        "scope": limit.scope.name(),
        "when": limit.when,
        "iops": limit.iops,
        "bytes_per_second": limit.bytes,
        "credit_operations": limit.credits,
        "credit_bytes": limit.credit_bytes,
        "kinds": match limit.kinds {
            Kinds::All => "all",
            Kinds::Read => "read",
            Kinds::Write => "write",
        },
        "access": match limit.access {
            Access::Any => "any",
            Access::Sequential => "sequential",
            Access::Random => "random",
        },
        "unit_bytes": limit.unit.map(plimsoll_units::Bytes::get),
        "burst": limit.burst,
        "in_model": limit.in_model,
        "raised_by": limit.lift.iter().map(|name| &**name).collect::<Vec<&str>>(),
        "validity": limit.validity,
        "source": offer::source(&limit.cite),
    })
}

fn latency(latency: &Latency) -> Value {
    json!({ "text": &*latency.text, "source": offer::source(&latency.cite) })
}

fn rule(rule: &RuleView) -> Value {
    json!({
        "require": rule.require,
        "message": &*rule.message,
        "caution": rule.caution,
        "source": offer::source(&rule.cite),
    })
}

fn price(list: &PriceView) -> Value {
    json!({
        "list": list.list,
        "taxes": &*list.taxes,
        "parts": list.parts.iter().map(part).collect::<Vec<_>>(),
        "snapshots": list.snapshot.as_ref().map(|snapshot| json!({
            "amount": snapshot.amount,
            "per": &*snapshot.per,
            "source": offer::source(&snapshot.cite),
        })),
        "source": offer::source(&list.cite),
    })
}

fn part(part: &PartView) -> Value {
    json!({
        "name": &*part.name,
        "per": &*part.per,
        "amount": part.amount,
        "quantity": part.quantity,
        "when": part.when,
        "paid": if part.often == Often::Once { "once" } else { "monthly" },
        "source": offer::source(&part.cite),
    })
}

fn figure(figure: &NamedFigure) -> Value {
    json!({
        "name": figure.name,
        "value": number(figure.value),
        "unit": figure.unit,
        "source": offer::source(&figure.cite),
    })
}

fn autotune(autotune: &Autotune) -> Value {
    let parameter = |(name, value): &(String, OptionValue)| {
        let value = match value {
            OptionValue::Number(value) => number(*value),
            OptionValue::Text(text) => text.to_string().into(),
        };
        (name.clone(), value)
    };
    json!({
        "name": autotune.name,
        "parameters": autotune.parameters.iter().map(parameter).collect::<Map<_, _>>(),
        "source": offer::source(&autotune.cite),
    })
}

fn warning(warning: &Warning) -> Value {
    json!({ "text": warning.text, "source": offer::source(&warning.cite) })
}
