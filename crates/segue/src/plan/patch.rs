//! JSON merge patches: what changed between two values, and a value with a change in it.

use serde_json::{Map, Value};

/// What turns `old` into `new`; `None` when they are the same.
pub(super) fn between(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(was) => drop(between(was, value).map(|change| patch.insert(key.clone(), change))),
            None => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Puts a change into a value.
pub(super) fn apply(value: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Some(map) = value.as_object_mut() else { return };
    for (key, change) in changes {
        if change.is_null() {
            map.remove(key);
        } else {
            apply(map.entry(key.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_says_what_changed_and_nothing_else() {
        let old = json!({ "a": 1, "b": { "c": [1, 2], "d": "x" }, "e": true });
        let new = json!({ "a": 1, "b": { "c": [1], "d": "x", "f": {} } });
        let patch = between(&old, &new).unwrap();
        assert_eq!(patch, json!({ "b": { "c": [1], "f": {} }, "e": null }));
        let mut value = old.clone();
        apply(&mut value, &patch);
        assert_eq!(value, new);
        assert_eq!(between(&new, &new), None);
    }
}
