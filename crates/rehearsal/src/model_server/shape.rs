//! A plausible answer in a shape that a CLI asks for, for the questions that it puts beside the conversation.

use serde_json::{Map, Value};

/// A value of this JSON schema: the first choice, the smallest number, no list items.
pub(super) fn fill(schema: &Value) -> Value {
    if let Some(value) = schema.get("const").or(schema.pointer("/enum/0")) {
        return value.clone();
    }
    if let Some(properties) = schema["properties"].as_object() {
        return object(properties);
    }
    // The Gemini API writes the names of types in capitals.
    let kind = schema["type"].as_str().unwrap_or_default().to_lowercase();
    match kind.as_str() {
        "number" | "integer" => schema.get("minimum").cloned().unwrap_or_else(|| 0.into()),
        "boolean" => false.into(),
        "array" => Value::Array(Vec::new()),
        "object" => Value::Object(Map::new()),
        "null" => Value::Null,
        _ => "There is nothing more to say about it.".into(),
    }
}

/// An object with these properties.
pub(super) fn object(properties: &Map<String, Value>) -> Value {
    properties.iter().map(|(name, schema)| (name.clone(), fill(schema))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_value_is_filled_in() {
        let schema = json!({ "type": "OBJECT", "properties": {
            "next_speaker": { "type": "string", "enum": ["user", "model"] },
            "score": { "type": "integer", "minimum": 1 }, "confidence": { "type": "NUMBER" },
            "sure": { "type": "boolean" }, "items": { "type": "array" }, "any": {},
            "inner": { "type": "object", "properties": { "a": { "const": 7 } } },
        } });
        let value = fill(&schema);
        assert_eq!(
            (&value["next_speaker"], &value["score"], &value["confidence"]),
            (&json!("user"), &json!(1), &json!(0))
        );
        assert_eq!(
            (&value["sure"], &value["items"], &value["inner"]["a"]),
            (&json!(false), &json!([]), &json!(7))
        );
        assert!(value["any"].is_string());
    }
}
