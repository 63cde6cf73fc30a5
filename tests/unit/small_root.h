// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A folder that stands for "/" of another machine, as long as the object lives: with the files named and their text, or
// (MachineRoot) with those of a fixture, see tests/fixtures/machines/README.md.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay {

class SmallRoot {
 public:
  SmallRoot(std::initializer_list<std::pair<std::string, std::string>> files) : SmallRoot() {
    for (const auto& [file, text] : files) add(file, text);
  }
  SmallRoot(const SmallRoot&) = delete;
  SmallRoot& operator=(const SmallRoot&) = delete;
  ~SmallRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 protected:
  SmallRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-root-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  void add(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }

 private:
  std::filesystem::path path_;
};

class MachineRoot : public SmallRoot {
 public:
  MachineRoot(const std::filesystem::path& folder, const std::string& name) {
    const std::filesystem::path fixture = folder / (name + ".txt");
    std::ifstream lines(fixture);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (line.size() > 3 && line.substr(line.size() - 3) == " <<") {
        std::string text;
        for (std::string part; std::getline(lines, part) && part != "<<";) text += part + "\n";
        add(line.substr(0, line.size() - 3), text);
      } else if (const std::size_t equals = line.find(" = "); equals != std::string::npos) {
        add_each(line.substr(0, equals), line.substr(equals + 3) + "\n");
      } else {
        throw std::runtime_error(fixture.string() + ": " + line);
      }
    }
    if (!lines.eof()) throw std::runtime_error("cannot read " + fixture.string());
  }

 private:
  // "cpu{0-3}/x" is four files; in the text {} is the number, {+16} and {-16} are what lies so far from it.
  void add_each(const std::string& file, const std::string& text) {
    std::smatch range;
    if (!std::regex_search(file, range, std::regex(R"(\{(\d+)-(\d+)\})"))) return add(file, text);
    for (int number = std::stoi(range[1]); number <= std::stoi(range[2]); ++number) {
      std::string filled;
      std::string rest = text;
      for (std::smatch place; std::regex_search(rest, place, std::regex(R"(\{([+-]\d+)?\})")); rest = place.suffix())
        filled += place.prefix().str() + std::to_string(number + (place[1].length() > 0 ? std::stoi(place[1]) : 0));
      add(range.prefix().str() + std::to_string(number) + range.suffix().str(), filled + rest);
    }
  }
};

}  // namespace assay
