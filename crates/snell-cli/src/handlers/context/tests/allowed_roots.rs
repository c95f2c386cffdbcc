//! Where files may lie.

use super::NONE;
use super::sandbox::ContextSandbox;

#[test]
fn the_project_that_a_session_is_about_may_lie_anywhere() {
    let scene = || {
        ContextSandbox::new()
            .with_file("apps/one/CLAUDE.md", "x")
            .with_file("apps/one/deep/SYSTEM-SPEC.md", "x")
            .with_file("../code/[two]*/CLAUDE.md", "x")
            .with_file("../code/[two]*/deep/SYSTEM-SPEC.md", "x")
            .with_file("../code/t/deep/SYSTEM-SPEC.md", "x")
            .with_role(&["${PROJECT_PATH}/CLAUDE.md", "${PROJECT_PATH}/**/SYSTEM-SPEC.md"])
    };
    scene().assert_listed(NONE);
    scene().with_project_path("").assert_listed(NONE);
    let inside = &["CLAUDE.MD (apps/one/CLAUDE.md)", "SYSTEM-SPEC.MD (apps/one/deep/SYSTEM-SPEC.md)"];
    for path in ["apps/one", "apps/one/", "apps//one//", "./apps/./one/."] {
        scene().with_project_path(path).assert_listed(inside);
    }
    let absolute = scene();
    let path = absolute.project().join("apps/one/");
    absolute.with_project_path(path.to_str().unwrap()).assert_listed(inside);
    let outside = scene();
    let path = outside.home().join("code/[two]*");
    outside
        .with_project_path(path.to_str().unwrap())
        .assert_listed(&["CLAUDE.MD (~/code/[two]*/CLAUDE.md)", "SYSTEM-SPEC.MD (~/code/[two]*/deep/SYSTEM-SPEC.md)"]);
    scene().with_project_path("../code/t").assert_listed(&["SYSTEM-SPEC.MD (../code/t/deep/SYSTEM-SPEC.md)"]);
}

#[test]
fn what_leads_out_of_the_project_is_left_out_and_can_be_allowed() {
    let scene = |entry: &str| {
        ContextSandbox::new()
            .with_file("a.md", "x")
            .with_file("../.ssh/id_rsa", "secret")
            .with_file("../notes/own.md", "x")
            .with_link("key.md", "../.ssh/id_rsa")
            .with_link("secrets", "../.ssh")
            .with_role(&[entry, "a.md"])
    };
    let kept = &["A.MD (a.md)"];
    let cases = [
        ("../.ssh/id_rsa", "../.ssh/id_rsa is ignored, because "),
        ("~/.ssh/id_rsa", "~/.ssh/id_rsa is ignored, because "),
        ("key.md", "key.md is ignored, because "),
        ("k*.md", "key.md is ignored, because "),
        ("secrets/id_rsa", "secrets/id_rsa is ignored, because "),
        ("secret*/id_rsa", "secrets/id_rsa is ignored, because "),
        ("secrets/*", ".claude/roles/chief.md:3:5: \"secrets/*\" is ignored, because ~/.ssh is outside the project"),
        ("~/.ssh/*", ".claude/roles/chief.md:3:5: \"~/.ssh/*\" is ignored, because ~/.ssh is outside the project"),
        ("/etc/passw*", ".claude/roles/chief.md:3:5: \"/etc/passw*\" is ignored, because /etc is outside the project"),
        ("/etc/passwd", "/etc/passwd is ignored, because "),
    ];
    for (entry, says) in cases {
        scene(entry).assert_fault(kept, &[says, "allow = [", "[context] of your own snell.toml"]);
        let loaded = scene(entry).load_context();
        assert!(!loaded.text.unwrap().contains("secret"), "{entry}");
    }
    // A core file that is a link is no better, whoever names it by a path in the project.
    let core =
        ContextSandbox::new().with_file("../.ssh/id_rsa", "secret").with_link("Desktop/TODAY.md", "../../.ssh/id_rsa");
    core.assert_fault(NONE, &["Desktop/TODAY.md is ignored, because "]);
    core.with_settings("[context]\ncore = ['Desktop/TODAY.md']\n")
        .assert_fault(NONE, &["Desktop/TODAY.md is ignored, because "]);
    // So is a link in whose place the session's project is looked for.
    scene("${PROJECT_PATH}/id_rsa")
        .with_project_path("secrets")
        .assert_fault(kept, &["secrets/id_rsa is ignored, because "]);
    // And so is a role.
    ContextSandbox::new()
        .with_file("a.md", "x")
        .with_file("../role.md", "---\nauto_include: a.md\n---\n")
        .with_link(".claude/roles/chief.md", "../../../role.md")
        .in_role("chief")
        .assert_fault(NONE, &[".claude/roles/chief.md is ignored, because "]);
    scene("~/notes/*.md")
        .with_settings("[context]\nallow = ['~/notes']\n")
        .assert_listed(&["OWN.MD (~/notes/own.md)", "A.MD (a.md)"]);
}

#[test]
fn what_is_proposed_to_be_allowed_is_no_more_than_what_is_asked_for_and_helps() {
    let scene = |entry: &str| {
        ContextSandbox::new()
            .with_file("a.md", "x")
            .with_file("../own.md", "x")
            .with_file("../notes/b.md", "x")
            .with_link("link.md", "../own.md")
            .with_role(&[entry, "a.md"])
    };
    let cases = [
        ("../own.md", "~/own.md", "OWN.MD (../own.md)"),
        ("~/own.md", "~/own.md", "OWN.MD (~/own.md)"),
        ("link.md", "~/own.md", "LINK.MD (link.md)"),
        ("~/notes/*.md", "~/notes", "B.MD (~/notes/b.md)"),
        ("../notes/**", "~/notes", "B.MD (../notes/b.md)"),
    ];
    for (entry, proposed, loaded) in cases {
        let proposed = format!("allow = [\"{proposed}\"]");
        scene(entry).assert_fault(&["A.MD (a.md)"], &[&proposed]);
        scene(entry).with_settings(&format!("[context]\n{proposed}\n")).assert_listed(&[loaded, "A.MD (a.md)"]);
    }
    // To allow these would be to allow everything.
    let link = scene("link").with_link("link", "..");
    let above = ContextSandbox::new().with_file("a.md", "x");
    let holds_home = above.home().join("../*.md");
    let above = above.with_role(&[holds_home.to_str().unwrap(), "a.md"]);
    let patterns = ["~/*.md", "../*.md", "/*/x.md", "/*"].map(scene);
    for scene in patterns.into_iter().chain([link, above]) {
        scene.assert_fault(&["A.MD (a.md)"], &["name the files instead", "your own snell.toml"]);
        assert!(!scene.load_context().faults[0].to_string().contains("allow = "));
    }
    // A file that is allowed does not allow the one beside it.
    scene("~/notes/b.md")
        .with_settings("[context]\nallow = ['~/own.md']\n")
        .assert_fault(&["A.MD (a.md)"], &["allow = [\"~/notes/b.md\"]"]);
}
